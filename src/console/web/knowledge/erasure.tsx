import { useMutation } from '@tanstack/react-query';
import { Download, Eraser } from 'lucide-react';
import { useState } from 'react';
import type { EntityExport } from '../../../client/memory/api.ts';
import { CallFailed } from '../calls.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/states.tsx';
import { saveJson } from '../shell/saving.ts';
import { useUser } from '../user.tsx';
import { useReread } from './facts.ts';

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

/** Downloads everything that is known, with its history, as JSON. */
export function Export() {
  const user = useUser();
  const download = useMutation({
    mutationFn: async () => {
      const known = await user.json<EntityExport>('memory', '/export').catch((error: unknown) => {
        if (error instanceof CallFailed && error.status === 404) throw new Error('There is nothing to export.');
        throw error;
      });
      saveJson('atelier-memory.json', known);
    },
  });
  return (
    <>
      <Problem of={download.error} />
      <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
        <Download {...icon} />
        Export
      </button>
    </>
  );
}

const word = 'erase';

export function EraseEverything() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="danger" onClick={() => setOpen(true)}>
        <Eraser {...icon} />
        Erase everything
      </button>
      {isOpen && <Confirmation onClose={() => setOpen(false)} />}
    </>
  );
}

function Confirmation({ onClose }: { readonly onClose: () => void }) {
  const user = useUser();
  const reread = useReread();
  const [typed, setTyped] = useState('');
  const erase = useMutation({
    mutationFn: async () => {
      await user.send('memory', `/entities/user/${user.id}`, { method: 'DELETE' });
      await reread();
    },
    onSuccess: onClose,
  });
  const isReady = typed.trim().toLowerCase() === word;
  return (
    <Dialog title="Erase your memory?" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) erase.mutate();
        }}
      >
        <p>Your profile, all memories and their history are deleted. You cannot undo this.</p>
        <label className="field">
          Type “{word}” to confirm
          <input value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
        </label>
        <Problem of={erase.error} />
        <div className="row">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="danger" disabled={!isReady || erase.isPending}>
            Erase everything
          </button>
        </div>
      </form>
    </Dialog>
  );
}
