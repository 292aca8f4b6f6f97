import { type ComponentType, lazy, Suspense } from 'react';

interface Properties {
  readonly text: string;
}

const Plain = ({ text }: Properties) => <p className="prose plain-text">{text}</p>;

/** Loaded with the first message, because Markdown is a fifth of the studio. Plain text if it cannot be loaded. */
const Prose = lazy(async (): Promise<{ readonly default: ComponentType<Properties> }> => {
  const loaded = await import('./prose.tsx').catch(() => undefined);
  return { default: loaded?.Prose ?? Plain };
});

/** The text of a message, as Markdown. */
export const AnswerText = ({ text }: Properties) => (
  <Suspense fallback={<Plain text={text} />}>
    <Prose text={text} />
  </Suspense>
);
