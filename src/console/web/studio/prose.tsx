import { type ComponentProps, memo, useRef } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CopyButton } from './copybutton.tsx';

const plugins = [remarkGfm];

/** An answer cannot load anything from elsewhere, and its links open in another tab. */
const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
  pre: ({ children }) => <Code>{children}</Code>,
  table: ({ children }) => (
    <section className="wide" aria-label="Table">
      <table>{children}</table>
    </section>
  ),
  input: (properties: ComponentProps<'input'>) => <input {...properties} aria-label="Done" />,
};

export const Prose = memo(({ text }: { readonly text: string }) => (
  <div className="prose">
    <Markdown remarkPlugins={plugins} disallowedElements={['img']} components={components}>
      {text}
    </Markdown>
  </div>
));

function Code({ children }: Pick<ComponentProps<'pre'>, 'children'>) {
  const pre = useRef<HTMLPreElement>(null);
  return (
    <div className="code">
      <CopyButton label="Copy the code" read={() => pre.current?.textContent ?? ''} />
      <pre ref={pre}>{children}</pre>
    </div>
  );
}
