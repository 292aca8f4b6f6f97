import { Square, SquareCheck } from 'lucide-react';
import { isValidElement, memo, type ReactNode, useEffect, useState } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { hasFormula, withDollars, withTableHead } from '#platform/markdown.ts';
import { CopyButton } from './copybutton.tsx';

const plugins = [remarkGfm];
/** Longer code is not colored, because each new word would color it again. */
const longestColored = 20_000;

/** The module, when it has been loaded. Without it, the text is shown as it is. */
function useLazily<Module>(isWanted: boolean, load: () => Promise<Module>): Module | undefined {
  const [module, setModule] = useState<Module>();
  const isMissing = isWanted && module === undefined;
  useEffect(() => {
    if (isMissing)
      load().then(
        (loaded) => setModule(() => loaded),
        () => undefined,
      );
  }, [isMissing, load]);
  return module;
}

const loadMath = () => import('./math.tsx');
const loadHighlight = () => import('./highlight.tsx');

/** An answer cannot load anything from elsewhere, and its links open in another tab. */
const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
  pre: ({ children }) => {
    const code = codeOf(children);
    if (code === undefined) return <pre>{children}</pre>;
    return code.language === 'math' ? <Formula text={code.text} isBlock /> : <Code {...code} />;
  },
  code: ({ className = '', children }) =>
    className.includes('math-inline') ? (
      <Formula text={String(children)} isBlock={false} />
    ) : (
      <code className={className}>{children}</code>
    ),
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard
    <section className="wide" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  // Of a task list. A disabled checkbox would look as if one could not read it.
  input: ({ checked }) => {
    const Icon = checked ? SquareCheck : Square;
    return <Icon className="task" size={16} strokeWidth={1.75} role="img" aria-label={checked ? 'Done' : 'To do'} />;
  },
};

export const Prose = memo(({ text }: { readonly text: string }) => {
  const hasMath = hasFormula(text);
  const math = useLazily(hasMath, loadMath);
  const withMath = hasMath && math !== undefined;
  return (
    <div className="prose">
      <Markdown
        remarkPlugins={withMath ? [...plugins, ...math.mathPlugins] : plugins}
        disallowedElements={['img']}
        components={components}
      >
        {withTableHead(withMath ? withDollars(text) : text)}
      </Markdown>
    </div>
  );
});

interface CodeText {
  readonly text: string;
  readonly language: string;
}

/** Of the one element in a `pre`. */
function codeOf(children: ReactNode): CodeText | undefined {
  if (!isValidElement<{ className?: string; children?: ReactNode }>(children)) return undefined;
  const { className = '', children: text } = children.props;
  return { text: String(text ?? ''), language: /language-(\S+)/.exec(className)?.[1] ?? '' };
}

function Formula({ text, isBlock }: { readonly text: string; readonly isBlock: boolean }) {
  const math = useLazily(true, loadMath);
  return math === undefined ? <code>{text}</code> : <math.Formula text={text} isBlock={isBlock} />;
}

function Code({ text, language }: CodeText) {
  const isColored = language !== '' && text.length <= longestColored;
  const highlight = useLazily(isColored, loadHighlight);
  return (
    <figure className="code" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
      <figcaption>
        <span className="quiet small">{language}</span>
        <CopyButton label="Copy the code" read={() => text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard */}
      <pre tabIndex={0}>
        <code>
          {isColored && highlight !== undefined ? <highlight.Highlighted text={text} language={language} /> : text}
        </code>
      </pre>
    </figure>
  );
}
