'use strict';

// The most rows that are all in the document. Longer lists hold the rows in view alone.
const mostWhole = 300;

// How many pixels of rows above and below the view are drawn too.
const margin = 800;

// RowList shows rows in an element. It draws a row with render(row) and knows the height of one
// that is not drawn from height(row).
class RowList {
  constructor(holder, render, height) {
    Object.assign(this, { holder, render, height, rows: [], drawn: new Map(), isWhole: true });
    addEventListener('scroll', () => this.later(), { passive: true });
    addEventListener('resize', () => this.show(this.rows));
  }

  // show replaces the rows.
  show(rows) {
    this.rows = rows;
    this.drawn.clear();
    this.isWhole = rows.length <= mostWhole;
    this.holder.classList.toggle('whole', this.isWhole);
    this.holder.style.height = '';
    if (this.isWhole) {
      this.holder.replaceChildren(...rows.map((row, i) => this.draw(i)));
      return;
    }
    this.holder.replaceChildren();
    this.tops = new Float64Array(rows.length + 1);
    rows.forEach((row, i) => { this.tops[i + 1] = this.tops[i] + this.height(row); });
    this.holder.style.height = this.tops[rows.length] + 'px';
    this.update();
  }

  // later updates the list before the next frame.
  later() {
    if (this.isWhole || this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.update();
    });
  }

  // update draws the rows that came into view and removes those that left it. The row that has
  // the focus stays.
  update() {
    if (this.isWhole || this.holder.offsetParent === null) return;
    const top = this.holder.getBoundingClientRect().top;
    const first = this.rowAt(-top - margin);
    const last = this.rowAt(-top + innerHeight + margin);
    for (const [i, element] of this.drawn) {
      if ((i < first || i > last) && !element.contains(document.activeElement)) {
        element.remove();
        this.drawn.delete(i);
      }
    }
    const added = document.createDocumentFragment();
    for (let i = first; i <= last; i++) {
      if (!this.drawn.has(i)) added.append(this.draw(i));
    }
    this.holder.append(added);
  }

  // rowAt returns the index of the row at a height of the list.
  rowAt(y) {
    let low = 0;
    let high = this.rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  draw(i) {
    const element = this.render(this.rows[i]);
    if (!this.isWhole) {
      element.style.transform = `translateY(${this.tops[i]}px)`;
      element.style.height = this.tops[i + 1] - this.tops[i] + 1 + 'px'; // borders overlap
      element.setAttribute('aria-posinset', i + 1);
      element.setAttribute('aria-setsize', this.rows.length);
    }
    this.drawn.set(i, element);
    return element;
  }

  // reveal scrolls to a row, so that it is drawn.
  reveal(i) {
    if (this.isWhole) {
      this.drawn.get(i).scrollIntoView({ block: 'nearest' });
      return;
    }
    const top = this.holder.getBoundingClientRect().top + this.tops[i];
    const bottom = top + this.height(this.rows[i]);
    const above = document.querySelector('.bar-of-tabs').offsetHeight + 40;
    if (top < above) scrollBy(0, top - above);
    else if (bottom > innerHeight) scrollBy(0, bottom - innerHeight + 24);
    this.update();
  }
}
