'use strict';

// Tabs shows one panel at a time, by the pattern for tabs of ARIA.
class Tabs {
  constructor(list, onSelect) {
    Object.assign(this, { list, onSelect, tabs: [], panels: [] });
    list.addEventListener('keydown', (event) => {
      const at = this.tabs.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const tab = this.tabs[(to + this.tabs.length) % this.tabs.length];
      tab.focus();
      tab.click();
    });
  }

  // add adds a tab and returns its panel.
  add(name, label, ...content) {
    const tab = make('button', {
      type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'panel-' + name, onclick: () => this.onSelect(name),
    }, label);
    const panel = make('section', { role: 'tabpanel', id: 'panel-' + name, 'aria-labelledby': 'tab-' + name }, ...content);
    this.tabs.push(tab);
    this.panels.push(panel);
    this.list.append(tab);
    return panel;
  }

  // select shows the panel of a tab. With isCovered the panel stays hidden behind another view.
  select(name, isCovered = false) {
    this.tabs.forEach((tab, i) => {
      const isSelected = tab.id === 'tab-' + name;
      tab.setAttribute('aria-selected', String(isSelected));
      tab.setAttribute('tabindex', isSelected ? '0' : '-1');
      hide(this.panels[i], !isSelected || isCovered);
    });
  }

  // has reports whether there is a tab with a name.
  has(name) {
    return this.tabs.some((tab) => tab.id === 'tab-' + name);
  }
}
