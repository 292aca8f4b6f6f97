import { useEffect, useRef, useState } from 'react';

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
  const first = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  useEffect(() => {
    // The question stands where the button was, and the button where the question was: so does the focus.
    if (isAsked !== wasAsked.current) first.current?.focus();
    wasAsked.current = isAsked;
  }, [isAsked]);
  if (!isAsked)
    return (
      <button type="button" ref={first} className="danger" onClick={() => setAsked(true)}>
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
        ref={first}
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
