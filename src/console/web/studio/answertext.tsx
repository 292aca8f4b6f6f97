import { lazy, Suspense } from 'react';

interface Properties {
  readonly text: string;
}

const Plain = ({ text }: Properties) => <p className="prose plain-text">{text}</p>;

/** Loaded with the first message, because Markdown is a fifth of the studio. Plain text if it cannot be loaded. */
const Prose = lazy(() =>
  import('./prose.tsx').then(({ Prose: View }) => ({ default: View })).catch(() => ({ default: Plain })),
);

/** The text of a message, as Markdown. */
export const AnswerText = ({ text }: Properties) => (
  <Suspense fallback={<Plain text={text} />}>
    <Prose text={text} />
  </Suspense>
);
