import { useMutation } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Memory } from '../../../client/memory/api.ts';
import { CallFailed } from '../calls.ts';
import { deleteLater } from '../library/deletions.ts';
import { When } from '../parts/figures.tsx';
import { IconButton } from '../parts/iconbutton.tsx';
import { Problem } from '../parts/states.tsx';
import { useUser } from '../user.tsx';
import { useReread } from './facts.ts';

/** What is shown of a memory. */
export type ShownMemory = Pick<Memory, 'id' | 'content' | 'updated_at'>;

export function Fact({ memory }: { readonly memory: ShownMemory }) {
  const user = useUser();
  const reread = useReread();
  const [draft, setDraft] = useState<string>();
  const correct = useMutation({
    mutationFn: (content: string) =>
      user.json<Memory>('memory', `/memory/${memory.id}`, { method: 'PUT', json: { content } }),
    onSuccess: async () => {
      await reread();
      setDraft(undefined);
    },
  });
  const forget = () =>
    deleteLater('Forgotten.', [memory.id], async () => {
      const isGone = (error: unknown) => error instanceof CallFailed && error.status === 404;
      await user.send('memory', `/memory/${memory.id}`, { method: 'DELETE', isLast: true }).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
      await reread();
    });
  if (draft === undefined)
    return (
      <li className="fact">
        <div>
          <p>{memory.content}</p>
          <p className="quiet">
            <When at={memory.updated_at} />
          </p>
        </div>
        <div className="does">
          <IconButton
            label={`Correct: ${memory.content}`}
            Icon={Pencil}
            title="Correct"
            onClick={() => setDraft(memory.content)}
          />
          <IconButton label={`Forget: ${memory.content}`} Icon={Trash2} title="Forget" onClick={forget} />
        </div>
      </li>
    );
  return (
    <li className="fact editing">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          correct.mutate(draft.trim());
        }}
      >
        <textarea
          // biome-ignore lint/a11y/noAutofocus: the field takes the place of the button that opened it.
          autoFocus
          className="grows"
          aria-label="Correction"
          maxLength={8000}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setDraft(undefined);
          }}
        />
        <div className="row">
          <Problem of={correct.error} />
          <span className="does">
            <button type="button" onClick={() => setDraft(undefined)}>
              Cancel
            </button>
            <button type="submit" className="primary" disabled={correct.isPending || draft.trim() === ''}>
              Save
            </button>
          </span>
        </div>
      </form>
    </li>
  );
}
