'use strict';

// listenToKeys gives the keys of the page to a handler of each. Tab is left to the browser.
function listenToKeys(viewer) {
  const moves = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
  addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    const isTyping = event.target === viewer.search.input;
    if (isTyping && !['Enter', 'Escape', 'ArrowDown'].includes(event.key)) return;
    let isDone = true;
    if (moves[event.key]) viewer.move(moves[event.key]);
    else if (event.key === '/') viewer.toSearch();
    else if (event.key === 'Escape') isDone = viewer.back(isTyping);
    else if (event.key === 'Enter' && isTyping) viewer.open(viewer.search.first());
    else isDone = false;
    if (isDone) event.preventDefault();
  });
}
