// The highlighter of the studio, without its types, which declare a browser.
export { default } from 'highlight.js/lib/common';
