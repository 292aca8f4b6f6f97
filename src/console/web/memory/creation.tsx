import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Problem } from '../parts/states.tsx';
import { backOffice, memoryTypes } from './backoffice.ts';

export function Creation({
  entityId,
  onClose,
  onChange,
}: {
  readonly entityId: string;
  readonly onClose: () => void;
  readonly onChange: () => Promise<unknown>;
}) {
  const [draft, setDraft] = useState({ entity_type: 'user', entity_id: entityId, type: 'preference', content: '' });
  const create = useMutation({
    mutationFn: () => backOffice('/memories', 'POST', draft),
    onSuccess: async () => {
      await onChange();
      onClose();
    },
  });
  const set = (name: keyof typeof draft) => (event: { readonly target: { readonly value: string } }) =>
    setDraft({ ...draft, [name]: event.target.value });
  return (
    <Dialog title="New memory" onClose={onClose}>
      <form className="stack" action={() => create.mutate()}>
        <label className="field">
          Type of entity
          <select value={draft.entity_type} onChange={set('entity_type')}>
            <option>user</option>
            <option>group</option>
          </select>
        </label>
        <label className="field">
          Its id
          <input value={draft.entity_id} onChange={set('entity_id')} maxLength={256} required />
        </label>
        <label className="field">
          Type of memory
          <select value={draft.type} onChange={set('type')}>
            {memoryTypes.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
        <label className="field">
          Fact
          <textarea rows={3} value={draft.content} onChange={set('content')} required />
        </label>
        <p className="quiet">A fact that is already stored is merged.</p>
        <Problem of={create.error} />
        <div>
          <button type="submit" className="primary" disabled={create.isPending}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}
