/** The audit log: what operators did, found by operator, action and user. */
import { Link } from 'wouter';
import type { ActionPage } from '#accounts/people/api.ts';
import { When } from '../parts/figures.tsx';
import { Empty, PageHead } from '../parts/states.tsx';
import './desk.css';
import './operator.css';
import { Listing, SearchField, useFilters, usePages } from '../parts/listing.tsx';
import { PersonLink } from './names.tsx';
import { deedOf, differenceOf, outcomeOf } from './personview.ts';

type Action = ActionPage['actions'][number];

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

export function Audit() {
  const { of, change } = useFilters();
  const id = of('userId');
  const isIncomplete = id !== '' && !isId(id);
  const pages = usePages<ActionPage>('actions', '/api/actions', {
    actor: of('actor'),
    action: of('action'),
    userId: isIncomplete ? '' : id,
  });
  const field = (name: string, label: string, placeholder: string, maxLength: number) => (
    <SearchField
      label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      value={of(name)}
      onChange={(value) => change({ [name]: value })}
    />
  );
  return (
    <>
      <PageHead title="Audit">
        The actions of operators and commands, newest first. Users are recorded as a hash. The page finds the newest
        users, and those whose credits were changed. To find another one, enter the id.
      </PageHead>
      <search className="desk-fields desk-filters">
        {field('actor', 'Operator', 'chief@example.com', 64)}
        {field('action', 'Action', 'credits', 100)}
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
        empty={
          <Empty title="No actions match.">
            <p>Each change that an operator or a command makes appears here.</p>
          </Empty>
        }
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
  const { at, actor, action, target, outcome, requestId, userId, change } = whole;
  const isOfUser = target.startsWith('sha256 ');
  const [before = '', after] = deedOf(action).split('{}');
  return (
    <>
      <div className="desk-line">
        <span className="desk-name" title={action}>
          <span className="strong">{actor}</span> {before.charAt(0).toLowerCase() + before.slice(1)}
          {after !== undefined && (userId === null ? 'a user' : <PersonLink id={userId} />)}
          {after}
          {after === undefined && userId !== null && (
            <>
              {', '}
              <PersonLink id={userId} />
            </>
          )}
        </span>
        <span className="quiet desk-figure">
          <When at={at} />
        </span>
      </div>
      {change !== null && (
        <p>
          {differenceOf(change)}. <span className="quiet">Reason: {change.reason}</span>
        </p>
      )}
      {parts.length > 0 && (
        <ul className="quiet desk-parts">
          {parts.map((part) => (
            <li key={`${part.at} ${part.action}`}>
              {deedOf(part.action).replace(' of {}', '')}: {outcomeOf(part.outcome)}
            </li>
          ))}
        </ul>
      )}
      <p className="quiet wrapped">
        {outcomeOf(outcome)}
        {isOfUser && userId === null && ' · the user is recorded as a hash'}
        {isOfIncident(whole) && (
          <>
            {' · '}
            <Link href={`/operator/incidents/${target}`}>Open the incident</Link>
          </>
        )}
        {!isOfUser && !isOfIncident(whole) && !action.endsWith(target) && ` · ${target}`}
        {requestId !== null && (
          <>
            {' · '}Request id <code>{requestId}</code>
          </>
        )}
      </p>
    </>
  );
}
