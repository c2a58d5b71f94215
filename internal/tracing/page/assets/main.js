'use strict';

// Viewer is the page. The address says what it shows: a call, a tab, or the first tab.
class Viewer {
  constructor() {
    this.timeline = new Timeline();
    this.search = new Search(this.timeline, () => this.toTimeline());
    this.tabs = new Tabs(document.querySelector('[role=tablist]'), (name) => this.toTab(name));
    this.main = document.querySelector('main');
    const sections = data.sections.map((section) => this.tabs.add(section.id, foreign(section.title), sectionPanel(section)));
    this.home = data.sections.length ? data.sections[0].id : 'timeline';
    this.main.append(...sections,
      this.tabs.add('timeline', 'Timeline', sides.map(gaps), this.timeline.panel),
      this.tabs.add('skills', 'Skills', skillsPanel()),
      this.tabs.add('why', 'Why', whyPanel()));
    document.getElementById('totals').append(...sides.map((side, s) => totals(side, sides[1 - s])));
    this.follow();
    addEventListener('hashchange', () => this.follow());
    addEventListener('popstate', () => this.follow());
    this.timeline.show();
  }

  // follow shows what the address names.
  follow() {
    if (this.followed === location.hash) return;
    this.followed = location.hash;
    const call = addressed(location.hash);
    const name = call ? this.tab ?? 'timeline' : this.tabOf(location.hash);
    const wasOpen = this.call;
    if (!wasOpen && call) Object.assign(this, { scrolled: scrollY, opener: document.activeElement });
    this.call = call;
    document.getElementById('call')?.remove();
    this.tabs.select(name, Boolean(call));
    this.tab = name;
    if (call) this.draw(call);
    else if (wasOpen) this.uncover(wasOpen);
    this.timeline.list.update();
  }

  // tabOf returns the tab that an address names.
  tabOf(hash) {
    const name = hash.startsWith('#tab=') ? hash.slice(5) : this.home;
    return this.tabs.has(name) ? name : this.home;
  }

  // draw shows an open call in the place of the panels.
  draw(call) {
    this.main.append(callView(call, (steps) => (steps ? this.move(steps) : this.back())));
    scrollTo(0, 0);
    document.getElementById('call-title').focus({ preventScroll: true });
  }

  // uncover shows the panels again as they were before a call was open.
  uncover(call) {
    scrollTo(0, this.scrolled ?? 0);
    this.timeline.list.update();
    if (this.tab !== 'timeline') this.opener?.focus({ preventScroll: true });
    else if (this.timeline.rowOf.has(call)) this.timeline.select(call);
  }

  // visit changes the address and shows what it names.
  visit(hash, replace = false) {
    const url = location.pathname + location.search + hash;
    try {
      if (replace) history.replaceState(null, '', url);
      else history.pushState(null, '', url);
    } catch {
      location.hash = hash; // documents without an address of their own
    }
    this.follow();
  }

  // toTab shows a tab.
  toTab(name) {
    this.visit(name === this.home ? '' : '#tab=' + name);
  }

  // toTimeline shows the timeline, and leaves the focus where it is.
  toTimeline() {
    if (!this.call && this.tab === 'timeline') return;
    const focused = document.activeElement;
    if (this.call) this.tab = 'timeline';
    this.toTab('timeline');
    focused.focus({ preventScroll: true });
  }

  // open opens a call.
  open(call) {
    if (call) this.visit(address(call), Boolean(this.call));
  }

  // move goes to another call: it opens it if a call is open, and selects it otherwise.
  move(steps) {
    if (this.call) {
      this.open(this.timeline.after(this.call, steps));
      return;
    }
    this.toTimeline();
    this.timeline.select(this.timeline.after(this.timeline.selected, steps));
  }

  // back closes the open call, or leaves the search. It reports whether there was one of them.
  back(isTyping) {
    if (this.call && !isTyping) {
      this.toTab(this.tab);
      return true;
    }
    if (isTyping) {
      this.search.input.value = '';
      this.search.run();
      this.search.input.blur();
      return true;
    }
    return false;
  }

  // toSearch gives the focus to the search, which searches the timeline.
  toSearch() {
    this.toTimeline();
    this.search.input.focus();
    this.search.input.select();
  }
}

const viewer = new Viewer();
listenToKeys(viewer);
document.documentElement.dataset.ready = 'true';
