/** A thread that writes answers as HTML, and ends with them. The parser takes minutes for some short texts. */
import { parentPort, workerData } from 'node:worker_threads';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { math, mathHtml } from 'micromark-extension-math';
import { withDollars } from '#platform/markdown.ts';

const extensions = [gfm(), math({ singleDollarTextMath: false }), { disable: { null: ['labelStartImage'] } }];
// MathML needs neither fonts nor styles. What is no formula is shown as it is.
const formulas = mathHtml({ output: 'mathml', maxSize: 10, maxExpand: 500, throwOnError: false });
const htmlExtensions = [gfmHtml(), formulas];

for (const text of workerData as readonly string[]) parentPort?.postMessage(render(text));

/** Raw HTML and dangerous protocols become text. Images of other sites become links, because the page loads none. */
function render(text: string): string {
  return (
    micromark(withDollars(text).replaceAll('![', '['), { extensions, htmlExtensions })
      .replaceAll('<a href=', '<a rel="nofollow ugc noopener noreferrer" href=')
      // Headings of an answer are below those of the page.
      .replaceAll(
        /<(\/?)h([1-6])>/g,
        (_all, slash: string, level: string) => `<${slash}h${Math.min(6, Number(level) + 2)}>`,
      )
      .replaceAll('<pre>', '<pre tabindex="0">')
  );
}
