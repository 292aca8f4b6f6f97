/** Colors of code, loaded with the first code that names a language. */
import { common, createLowlight } from 'lowlight';
import type { ReactNode } from 'react';

/** The languages of a shared conversation, too. */
const lowlight = createLowlight(common);

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** Plain text if the language is unknown. */
export function Highlighted({ text, language }: { readonly text: string; readonly language: string }) {
  if (!lowlight.registered(language)) return text;
  return lowlight.highlight(language, text).children.map(show);
}

function show(node: Node, place: number): ReactNode {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return null;
  const { className } = node.properties;
  return (
    <span key={place} className={Array.isArray(className) ? className.join(' ') : ''}>
      {node.children.map(show)}
    </span>
  );
}
