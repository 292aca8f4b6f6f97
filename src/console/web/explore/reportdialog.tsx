import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { reasonNames } from '../parts/reasons.ts';
import { Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';
import { useUser } from '../user.tsx';

/** The decision about it reaches the address of the account. */
export function ReportDialog({ assetId, onClose }: { readonly assetId: string; readonly onClose: () => void }) {
  const user = useUser();
  const [reason, setReason] = useState('');
  const [note, setNote] = useState('');
  const reporting = useMutation({
    mutationFn: async () => {
      const json = { assetId, reason, locale: navigator.language, ...(note.trim() !== '' && { note: note.trim() }) };
      await user.send('media', '/v1/reports', { method: 'POST', json });
      notify('Reported. You get our decision by email.');
      onClose();
    },
  });
  return (
    <Dialog title="Report" onClose={onClose}>
      <form className="stack" action={() => reporting.mutate()}>
        <label className="field">
          Reason
          <select required value={reason} onChange={(event) => setReason(event.target.value)}>
            <option value="">Choose a reason</option>
            {Object.entries(reasonNames).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Details (optional)
          <textarea rows={4} maxLength={2000} value={note} onChange={(event) => setNote(event.target.value)} />
        </label>
        <Problem of={reporting.error} />
        <div>
          <button type="submit" className="primary" disabled={reason === '' || reporting.isPending}>
            Send the report
          </button>
        </div>
      </form>
    </Dialog>
  );
}
