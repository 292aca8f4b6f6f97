/** Formulas, loaded with the first answer that has one. As MathML, which needs neither fonts nor styles. */
import katex from 'katex';
import type { Options } from 'react-markdown';
import remarkMath from 'remark-math';

/** One dollar may be a price: markdown.ts knows which is not. */
export const mathPlugins: NonNullable<Options['remarkPlugins']> = [[remarkMath, { singleDollarTextMath: false }]];

export function Formula({ text, isBlock }: { readonly text: string; readonly isBlock: boolean }) {
  const html = render(text, isBlock);
  if (html === undefined) return <code>{text}</code>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: KaTeX escapes its input
  return <span className={isBlock ? 'formula block' : 'formula'} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** `undefined`: it is no formula, or not a whole one yet. */
function render(text: string, isBlock: boolean): string | undefined {
  try {
    return katex.renderToString(text, { output: 'mathml', displayMode: isBlock, maxSize: 10, maxExpand: 500 });
  } catch {
    return undefined;
  }
}
