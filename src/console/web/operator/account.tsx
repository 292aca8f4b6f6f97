/** The account of a person: plan and credits with a reason, sessions, and the history of changes. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Plan } from '#accounts/api.ts';
import type { PersonDetails } from '#accounts/people/api.ts';
import { send } from '../calls.ts';
import { useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { countOf, When } from '../parts/figures.tsx';
import { Problem } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import { personKey, planName } from './personview.ts';

const plans: readonly Plan[] = ['free', 'basic', 'basic_year', 'pro', 'pro_year', 'max', 'max_year'];

export function Account({ record }: { readonly record: PersonDetails }) {
  const { person, settings, invitedBy, invited, sessionsEndedAt } = record;
  const mayChange = useMayChange();
  return (
    <section className="card stack" aria-labelledby="account-heading">
      <h2 id="account-heading">Account</h2>
      <Pairs
        of={{
          Language: person.language ?? 'not known',
          'Product mail': settings.isOpenNotification ? 'wanted' : 'unsubscribed',
          Invited: `${countOf(invited)}${invitedBy === null ? '' : ', and was invited'}`,
          'Sessions ended': sessionsEndedAt === null ? 'never' : <When at={sessionsEndedAt} />,
        }}
      />
      {mayChange && <Credits person={person} />}
      {mayChange && <Sessions userId={person.id} />}
    </section>
  );
}

function Credits({ person: { id, plan: current } }: Pick<PersonDetails, 'person'>) {
  const queries = useQueryClient();
  const [changeId, setChangeId] = useState(() => crypto.randomUUID());
  const [credits, setCredits] = useState('');
  const [plan, setPlan] = useState<string>(current);
  const [reason, setReason] = useState('');
  const hint = useId();
  const saving = useMutation({
    mutationFn: async () => {
      const added = credits.trim() === '' ? 0 : Number(credits);
      const json = { changeId, credits: added, reason, ...(plan === current ? {} : { plan }) };
      await send(`/api/people/${id}/credits`, { method: 'POST', json });
      setChangeId(crypto.randomUUID());
      setCredits('');
      setReason('');
      await queries.invalidateQueries({ queryKey: personKey(id) });
    },
  });
  const hasChange = (credits.trim() !== '' && Number(credits) !== 0) || plan !== current;
  return (
    <form className="stack desk-form" action={() => saving.mutate()}>
      <div className="desk-pair">
        <label className="field">
          Add credits
          <input
            type="number"
            step="1"
            inputMode="numeric"
            placeholder="0"
            value={credits}
            aria-describedby={hint}
            onChange={(event) => setCredits(event.target.value)}
          />
        </label>
        <label className="field">
          Plan
          <select value={plan} onChange={(event) => setPlan(event.target.value)}>
            {plans.map((one) => (
              <option key={one} value={one}>
                {planName(one)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p id={hint} className="quiet">
        A negative number removes credits.
      </p>
      <label className="field">
        Reason
        <input value={reason} maxLength={500} required onChange={(event) => setReason(event.target.value)} />
      </label>
      <div className="row">
        <button type="submit" className="primary" disabled={!hasChange || reason.trim() === '' || saving.isPending}>
          Save change
        </button>
        <Problem of={saving.error} />
      </div>
    </form>
  );
}

function Sessions({ userId }: { readonly userId: string }) {
  const queries = useQueryClient();
  const ending = useMutation({
    mutationFn: async () => {
      await send(`/api/people/${userId}/sessions`, { method: 'DELETE' });
      await queries.invalidateQueries({ queryKey: personKey(userId) });
    },
  });
  return (
    <div className="desk-deed">
      <p className="quiet">
        Ending the sessions signs this person out on every device. Access tokens stay valid for up to an hour.
      </p>
      <Confirm label="End sessions" question="Sign out everywhere?" onConfirm={() => ending.mutateAsync()} />
      <Problem of={ending.error} />
    </div>
  );
}
