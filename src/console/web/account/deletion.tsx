import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/states.tsx';
import { useSignOut } from '../user.tsx';
import { useAccountChange } from './queries.ts';

const word = 'delete';

export function Deletion() {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-labelledby="account-deletion">
      <h2 id="account-deletion">Delete your account</h2>
      <p className="quiet">
        Your conversations, media, memories and settings are deleted. We send you an email with the date. Until then,
        you can sign in and keep your account.
      </p>
      <button type="button" className="danger" onClick={() => setOpen(true)}>
        <Trash2 size={16} strokeWidth={1.75} aria-hidden="true" />
        Delete account
      </button>
      {isOpen && <Confirmation onClose={() => setOpen(false)} />}
    </section>
  );
}

function Confirmation({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const signOut = useSignOut();
  const deletion = useAccountChange('DELETE', '/account', () => signOut.mutate());
  const isReady = typed.trim().toLowerCase() === word;
  return (
    <Dialog title="Delete your account?" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) deletion.mutate();
        }}
      >
        <p>All sessions end now. Export your data first if you want to keep a copy.</p>
        <label>
          Type “{word}” to confirm
          <input autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
        </label>
        <div className="does">
          <button type="submit" className="danger" disabled={!isReady || deletion.isPending}>
            Delete account
          </button>
          <Problem of={deletion.error} />
        </div>
      </form>
    </Dialog>
  );
}

export function Restoration({ deletesAt }: { readonly deletesAt: string }) {
  const restoration = useAccountChange('POST', '/account/restore');
  return (
    <section className="card" role="status">
      <p className="strong">
        Your account will be deleted on {new Date(deletesAt).toLocaleDateString(undefined, { dateStyle: 'long' })}.
      </p>
      <div className="does">
        <button type="button" disabled={restoration.isPending} onClick={() => restoration.mutate()}>
          Keep my account
        </button>
        <Problem of={restoration.error} />
      </div>
    </section>
  );
}
