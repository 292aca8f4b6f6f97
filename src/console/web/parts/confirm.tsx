import { useState } from 'react';

/** Two steps for what cannot be taken back, without a window of its own. */
export function Confirm({
  label,
  question,
  onConfirm,
}: {
  readonly label: string;
  readonly question: string;
  readonly onConfirm: () => Promise<unknown> | unknown;
}) {
  const [isAsked, setAsked] = useState(false);
  const [isBusy, setBusy] = useState(false);
  if (!isAsked)
    return (
      <button type="button" className="danger" onClick={() => setAsked(true)}>
        {label}
      </button>
    );
  return (
    <fieldset className="confirm" aria-label={question}>
      <span>{question}</span>
      <button
        type="button"
        className="danger"
        disabled={isBusy}
        // The question stands where the button was: so does the focus.
        ref={(button) => button?.focus()}
        onClick={async () => {
          setBusy(true);
          try {
            await onConfirm();
          } finally {
            setBusy(false);
            setAsked(false);
          }
        }}
      >
        Yes, {label.toLowerCase()}
      </button>
      <button type="button" onClick={() => setAsked(false)}>
        No
      </button>
    </fieldset>
  );
}
