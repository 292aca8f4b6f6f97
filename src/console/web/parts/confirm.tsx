import { type ComponentProps, useEffect, useRef, useState } from 'react';
import { TextField } from './fields.tsx';
import { IconButton } from './iconbutton.tsx';
import { SaveForm } from './saveform.tsx';

interface ConfirmProps {
  readonly label: string;
  /** Of the button, for assistive technology. Begins with the label. */
  readonly name?: string;
  /** In place of a button with the label. */
  readonly icon?: Pick<ComponentProps<typeof IconButton>, 'Icon' | 'label' | 'title'>;
  readonly question: string;
  /** Not `danger`: it can be undone. */
  readonly tone?: 'danger' | 'neutral';
  readonly onConfirm: () => Promise<unknown> | unknown;
  /** The question is open from the beginning, and ends with this. */
  readonly onAnswered?: (() => void) | undefined;
}

/** A confirmation in two steps for actions that cannot be undone, without a dialog. */
export function Confirm({ label, name, question, icon, tone = 'danger', onConfirm, onAnswered }: ConfirmProps) {
  const [isOpen, setOpen] = useState(onAnswered !== undefined);
  const [isBusy, setBusy] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  useEffect(() => {
    // The question takes the place of the button, and the other way round. The focus follows.
    if (isOpen !== wasAsked.current) first.current?.focus();
    if (wasAsked.current && !isOpen) onAnswered?.();
    wasAsked.current = isOpen;
  }, [isOpen, onAnswered]);
  useEffect(() => {
    if (!isOpen) return;
    // Escape answers “No”, wherever the focus is. A dialog around the question stays open.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [isOpen]);
  if (!isOpen && icon) return <IconButton {...icon} ref={first} onClick={() => setOpen(true)} />;
  if (!isOpen)
    return (
      <button type="button" ref={first} className={tone} aria-label={name} onClick={() => setOpen(true)}>
        {label}
      </button>
    );
  return (
    <fieldset className="confirm" aria-label={question}>
      <span>{question}</span>
      <button
        type="button"
        className={tone}
        disabled={isBusy}
        ref={first}
        onClick={async () => {
          setBusy(true);
          // The caller shows the error.
          await (async () => onConfirm())().catch(() => undefined);
          setBusy(false);
          setOpen(false);
        }}
      >
        Yes, {label.toLowerCase()}
      </button>
      <button type="button" onClick={() => setOpen(false)}>
        No
      </button>
    </fieldset>
  );
}

interface TypedConfirmProps extends Pick<ComponentProps<typeof SaveForm>, 'title' | 'of' | 'onClose' | 'children'> {
  /** The user types it. */
  readonly word: string;
  readonly label: string;
}

/** A confirmation for what ends everything. */
export function TypedConfirm({ word, label, children, ...form }: TypedConfirmProps) {
  const [typed, setTyped] = useState('');
  return (
    <SaveForm {...form} submit={label} tone="danger" isReady={typed.trim().toLowerCase() === word} canCancel>
      <p>{children}</p>
      <TextField label={`Type “${word}” to confirm`} value={typed} autoComplete="off" onChange={setTyped} />
    </SaveForm>
  );
}
