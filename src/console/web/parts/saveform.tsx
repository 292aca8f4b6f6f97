import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Problem } from './states.tsx';

interface SaveFormProps {
  /** Of a dialog around the form. Otherwise, it is a part of the page. */
  readonly title?: string;
  readonly of: Pick<UseMutationResult<unknown, Error>, 'isPending' | 'error'> & {
    readonly mutate: (nothing: undefined, options: { readonly onSuccess: () => void }) => void;
  };
  /** The text of the button. */
  readonly submit: string;
  /** `false`: something is missing, or nothing has changed. */
  readonly isReady?: boolean;
  readonly tone?: 'primary' | 'danger';
  /** Beside the button, such as a deletion. */
  readonly more?: ReactNode;
  readonly canCancel?: boolean;
  /** After a success, or when the user leaves. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
}

/** The fields of something that is saved. A failure is shown above the buttons, and what was typed stays. */
export function SaveForm(props: SaveFormProps) {
  const { title, of, submit, isReady = true, tone = 'primary', more, canCancel = false, onClose, children } = props;
  const form = (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        of.mutate(undefined, { onSuccess: () => onClose?.() });
      }}
    >
      {children}
      <Problem of={of.error} />
      <div className="row">
        {canCancel && (
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        )}
        <button type="submit" className={tone} disabled={!isReady || of.isPending}>
          {submit}
        </button>
        {more}
      </div>
    </form>
  );
  if (title === undefined || onClose === undefined) return form;
  return (
    <Dialog title={title} onClose={onClose}>
      {form}
    </Dialog>
  );
}
