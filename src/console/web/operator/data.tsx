/** Everything about a person at once: an export as JSON, and the erasure from all services with its report. */
import { useMutation } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import type { ErasureReport, Person } from '#accounts/people/api.ts';
import { callJson, send } from '../calls.ts';
import { useMayChange } from '../operator.tsx';
import { Problem, Status } from '../parts/states.tsx';
import { saveFile } from '../shell/saving.ts';

export function Data({ person, onErased }: { readonly person: Person; readonly onErased: () => void }) {
  if (!useMayChange()) return null;
  return (
    <section className="card stack" aria-labelledby="data-heading">
      <h2 id="data-heading">Personal data</h2>
      <Export person={person} />
      <Erasure person={person} onErased={onErased} />
    </section>
  );
}

function Export({ person: { id, email } }: { readonly person: Person }) {
  const exporting = useMutation({
    mutationFn: async () => {
      const response = await send(`/api/people/${id}/export`, { method: 'POST' });
      saveFile(`${email ?? id}.json`, await response.blob());
    },
  });
  return (
    <div className="desk-deed">
      <p className="quiet">One JSON file from all services. Links to files in it are valid for seven days.</p>
      <button type="button" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
        {exporting.isPending ? 'Exporting …' : 'Export everything'}
      </button>
      <Problem of={exporting.error} />
    </div>
  );
}

function Erasure({ person: { id, email }, onErased }: { readonly person: Person; readonly onErased: () => void }) {
  const [typed, setTyped] = useState('');
  const field = useId();
  const outcome = useRef<HTMLDivElement>(null);
  const name = email ?? id;
  const erasing = useMutation({
    mutationFn: () => callJson<ErasureReport>(`/api/people/${id}/erasure`, { method: 'POST', json: { confirm: true } }),
    onSuccess: ({ isComplete }) => {
      if (isComplete) onErased();
    },
    onSettled: () => outcome.current?.focus(),
  });
  const report = erasing.data;
  const isOver = report?.isComplete === true && report.pendingJobs === 0;
  return (
    <form className="stack desk-form" action={() => erasing.mutate()}>
      <p className="quiet">
        Erasing removes the account, threads, files, memories and emails from every service. It cannot be undone. The
        audit log keeps a hash of the id.
      </p>
      {!isOver && (
        <>
          <label className="field" htmlFor={field}>
            <span>
              Type <code>{name}</code> to confirm
            </span>
            <input id={field} autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
          </label>
          <div>
            <button type="submit" className="danger" disabled={typed !== name || erasing.isPending}>
              {erasing.isPending ? 'Erasing …' : report === undefined ? 'Erase everything' : 'Erase again'}
            </button>
          </div>
        </>
      )}
      <div ref={outcome} tabIndex={-1} role="status" className="desk-outcome">
        {report && <Report report={report} />}
      </div>
      <Problem of={erasing.error} />
    </form>
  );
}

const names: Readonly<Record<ErasureReport['steps'][number]['service'], string>> = {
  agent: 'Conversations',
  media: 'Files',
  memory: 'Memories',
  notify: 'Emails',
  auth: 'Account',
};
const states = {
  done: { tone: 'good', word: 'erased' },
  failed: { tone: 'bad', word: 'not finished' },
  waiting: { tone: 'quiet', word: 'waits for the other services' },
} as const;

function Report({ report: { steps, isComplete, pendingJobs, provider } }: { readonly report: ErasureReport }) {
  return (
    <>
      <p className="strong">
        {isComplete ? 'Everything has been erased.' : 'The erasure is not complete. Erase again.'}
      </p>
      <ul className="lines">
        {steps.map(({ service, status, removed, message }) => (
          <li key={service}>
            <div className="row">
              <span>{names[service]}</span>
              <Status tone={states[status].tone}>{states[status].word}</Status>
            </div>
            <p className="quiet">{message ?? countsOf(removed)}</p>
          </li>
        ))}
      </ul>
      {isComplete && pendingJobs > 0 && (
        <p className="quiet">
          {pendingJobs} background jobs still refer to this person. They end within two minutes. Then erase again to
          remove their records.
        </p>
      )}
      {provider === 'not_configured' && (
        <p className="problem">Delete the account at the identity provider too: IDP_SERVICE_KEY is not set.</p>
      )}
    </>
  );
}

function countsOf(removed: Readonly<Record<string, number>>): string {
  const parts = Object.entries(removed).filter(([, count]) => count > 0);
  return parts.map(([what, count]) => `${what.replaceAll('_', ' ')}: ${count}`).join(', ');
}
