import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { OwnDecisions } from '../../../client/media/api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { When } from '../parts/figures.tsx';
import { Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';
import { useUser } from '../user.tsx';

type Decided = OwnDecisions['decisions'][number];

const effects: Readonly<Record<Decided['decision'], string>> = {
  dismiss: 'It stays available.',
  restrict: 'Only you can see it.',
  remove: 'It was removed.',
};

/** Absent until operators have decided about content of the user. */
export function Decisions() {
  const user = useUser();
  const [appealed, setAppealed] = useState<string>();
  const queryKey = ['decisions', user.id];
  const { data } = useQuery({ queryKey, queryFn: () => user.json<OwnDecisions>('media', '/v1/decisions') });
  if (data === undefined || data.decisions.length === 0) return null;
  return (
    <section aria-labelledby="account-decisions">
      <h2 id="account-decisions">Decisions about your content</h2>
      <ul className="lines">
        {data.decisions.map((one) => (
          <li key={one.id} className="stack">
            <p>
              <span className="strong">{effects[one.decision]}</span>{' '}
              <span className="quiet">
                <When at={one.at} />
              </span>
            </p>
            <p className="statement">{one.statement}</p>
            <p className="does">
              {one.assetId !== null && one.decision !== 'remove' && (
                <Link className="button" href={`/library/${one.assetId}`}>
                  Open it
                </Link>
              )}
              {one.decision !== 'dismiss' && one.appealedAt === null && (
                <button type="button" onClick={() => setAppealed(one.id)}>
                  Appeal
                </button>
              )}
              {one.appealedAt !== null && (
                <span className="quiet">
                  {one.isAppealOpen ? 'You appealed. A person reviews it.' : 'This decision answers your appeal.'}
                </span>
              )}
            </p>
          </li>
        ))}
      </ul>
      {appealed !== undefined && <AppealDialog id={appealed} onClose={() => setAppealed(undefined)} />}
    </section>
  );
}

function AppealDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const user = useUser();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const appealing = useMutation({
    mutationFn: async () => {
      await user.send('media', `/v1/incidents/${id}/appeal`, { method: 'POST', json: { text: text.trim() } });
      await queries.invalidateQueries({ queryKey: ['decisions', user.id] });
      notify('Your appeal is sent.');
      onClose();
    },
  });
  return (
    <Dialog title="Appeal the decision" onClose={onClose}>
      <form className="stack" action={() => appealing.mutate()}>
        <p className="quiet">You can appeal once. A person reviews it.</p>
        <label className="field">
          Why is the decision wrong?
          <textarea rows={5} maxLength={2000} required value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <Problem of={appealing.error} />
        <div>
          <button type="submit" className="primary" disabled={text.trim() === '' || appealing.isPending}>
            Send the appeal
          </button>
        </div>
      </form>
    </Dialog>
  );
}
