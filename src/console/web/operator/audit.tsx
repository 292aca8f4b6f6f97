/** The audit log: what operators did, found by operator, action and user. */
import { useDeferredValue, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { ActionPage } from '#accounts/people/api.ts';
import { When } from '../parts/figures.tsx';
import { Empty } from '../parts/states.tsx';
import './desk.css';
import { Listing, usePages } from '../parts/listing.tsx';
import { deedOf, outcomeOf } from './personview.ts';

type Action = ActionPage['actions'][number];

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

export function Audit() {
  const [search] = useSearchParams();
  const [typed, setTyped] = useState({ actor: '', action: '', userId: search.get('userId') ?? '' });
  const { actor, action, userId } = useDeferredValue(typed);
  const id = userId.trim();
  const isIncomplete = id !== '' && !isId(id);
  const pages = usePages<ActionPage>('actions', '/api/actions', {
    actor: actor.trim(),
    action: action.trim(),
    userId: isIncomplete ? '' : id,
  });
  const field = (name: keyof typeof typed, label: string, placeholder: string, maxLength: number) => (
    <label className="field">
      {label}
      <input
        type="search"
        placeholder={placeholder}
        maxLength={maxLength}
        value={typed[name]}
        onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
      />
    </label>
  );
  return (
    <>
      <header className="page">
        <h1>Audit</h1>
        <p className="quiet">
          The actions of operators and commands, newest first. Users are recorded as a hash of their id.
        </p>
      </header>
      <search className="desk-fields desk-filters">
        {field('actor', 'Operator', 'chief@example.com', 64)}
        {field('action', 'Action', 'retry', 100)}
        {field('userId', 'User id', 'A complete id', 36)}
      </search>
      {isIncomplete && (
        <p className="quiet" role="status">
          Enter a complete user id to filter by it.
        </p>
      )}
      <Listing
        pages={pages}
        label="Actions"
        itemsOf={({ actions }) => deedsOf(actions)}
        keyOf={([{ at, actor: name, action: actionName, target }]) => `${at} ${name} ${actionName} ${target}`}
        empty={<Empty title="No actions match." />}
      >
        {([whole, ...parts]) => <Entry action={whole} parts={parts} />}
      </Listing>
    </>
  );
}

type Deed = readonly [whole: Action, ...parts: Action[]];

/** A request that called other services is recorded by each of them, and last by its own. */
function deedsOf(actions: readonly Action[]): readonly Deed[] {
  const deeds: [Action, ...Action[]][] = [];
  for (const action of actions) {
    const last = deeds.at(-1);
    const isPart =
      action.requestId !== null && action.requestId === last?.[0].requestId && action.action !== last[0].action;
    if (isPart) last?.push(action);
    else deeds.push([action]);
  }
  return deeds;
}

const isOfIncident = ({ action }: Action) => action.includes('/v1/incidents/:id');

function Entry({ action: whole, parts }: { readonly action: Action; readonly parts: readonly Action[] }) {
  const { at, actor, action, target, outcome, requestId } = whole;
  return (
    <>
      <div className="desk-line">
        <span className="desk-name">{deedOf(action)}</span>
        <span className="quiet desk-figure">
          {actor}, <When at={at} />
        </span>
      </div>
      {parts.length > 0 && (
        <ul className="quiet desk-parts">
          {parts.map((part) => (
            <li key={`${part.at} ${part.action}`}>
              {deedOf(part.action)}: {outcomeOf(part.outcome)}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet wrapped">
        {deedOf(action) !== action && <code>{action}</code>} {outcomeOf(outcome)} ·{' '}
        {target.startsWith('sha256 ') ? (
          'a user'
        ) : isOfIncident(whole) ? (
          <Link href={`/operator/incidents/${target}`}>Open the incident</Link>
        ) : (
          target
        )}
        {requestId !== null && (
          <>
            {' · '}Request id <code>{requestId}</code>
          </>
        )}
      </p>
    </>
  );
}
