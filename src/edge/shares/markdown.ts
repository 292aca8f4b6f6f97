/** A thread that writes answers as HTML, and ends with them. The parser takes minutes for some short texts. */
import { parentPort, workerData } from 'node:worker_threads';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { math, mathHtml } from 'micromark-extension-math';
import { escapeHtml } from '#platform/escaping.ts';
import { withDollars } from '#platform/markdown.ts';
import highlighter from './highlighting.mjs';

const extensions = [gfm(), math({ singleDollarTextMath: false }), { disable: { null: ['labelStartImage'] } }];
// MathML needs neither fonts nor styles. What is no formula is shown as it is.
const formulas = mathHtml({ output: 'mathml', maxSize: 10, maxExpand: 500, throwOnError: false });
const htmlExtensions = [gfmHtml(), formulas];
/** As in the studio. */
const longestColored = 20_000;
/** Characters of HTML. Colors make code up to 40 times as long, and formulas a text 1000 times. */
let [colorsLeft, left] = [512 * 1024, 2 * 1024 * 1024];
/** Some grammars take seconds. An answer without colors is better than none. */
const coloredUntilMs = performance.now() + 1500;

const characters: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/** Raw HTML and dangerous protocols become text. Images of other sites become links, because the page loads none. */
function render(text: string): string {
  return (
    micromark(withDollars(text).replaceAll('![', '['), { extensions, htmlExtensions })
      .replaceAll('<a href=', '<a rel="nofollow ugc noopener noreferrer" href=')
      // A box that is a control would need a label.
      .replaceAll(
        /<input type="checkbox" disabled="" (checked="" )?\/>/g,
        (_all, isDone) => `<span class="task">${isDone ? '☑' : '☐'}</span>`,
      )
      // Headings of an answer are below those of the page.
      .replaceAll(
        /<(\/?)h([1-6])>/g,
        (_all, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 2)}>`,
      )
      .replaceAll(/<pre|<div class="math math-display"/g, '$& tabindex="0"')
      .replaceAll(/(<code class="language-([^"]+)">)([^<]*)/g, (all, start: string, language: string, code: string) => {
        const isLate = performance.now() > coloredUntilMs;
        if (isLate || code.length > longestColored || highlighter.getLanguage(language) === undefined) return all;
        const plain = code.replaceAll(/&(?:amp|lt|gt|quot);/g, (entity) => characters[entity] ?? entity);
        const { value } = highlighter.highlight(plain, { language });
        colorsLeft -= value.length;
        return colorsLeft < 0 ? all : start + value;
      })
  );
}

for (const text of workerData as readonly string[]) {
  const html = render(text);
  const shown = html.length > left ? `<p class="text">${escapeHtml(text)}</p>` : html;
  left -= shown.length;
  parentPort?.postMessage(shown);
}
