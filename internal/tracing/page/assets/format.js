'use strict';

// count writes a number with separators: 12,345.
const count = new Intl.NumberFormat('en-US').format;

// percent writes a share from 0 to 1, with a decimal place below ten percent.
function percent(share) {
  const value = share * 100;
  return (value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)) + ' %';
}

// size writes a number of bytes.
function size(bytes) {
  if (bytes < 1024) return bytes + ' B';
  if (bytes < 1024 * 1024) return (bytes / 1024).toFixed(1) + ' KiB';
  return (bytes / 1024 / 1024).toFixed(1) + ' MiB';
}

// duration writes milliseconds.
function duration(ms) {
  return ms < 1000 ? ms + ' ms' : (ms / 1000).toFixed(1) + ' s';
}

// clock writes the time of day of a time, which is in UTC.
function clock(time) {
  return time && !time.startsWith('0001') ? time.slice(11, 19) : '';
}

// wordsFor returns the words of a table for a key, or undefined if the table has none.
function wordsFor(table, key) {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

// plural writes a number and a noun: 1 call, 2 calls.
function plural(n, noun) {
  return count(n) + ' ' + noun + (n === 1 ? '' : 's');
}
