/** What people reported, and the decision about it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { PeoplePage } from '#accounts/people/api.ts';
import type { Incident, IncidentPage } from '#media/incidents/api.ts';
import type { ReportPage } from '#media/reports/api.ts';
import type { JobList } from '../../jobs/api.ts';
import { callJson, send } from '../calls.ts';
import { Changes, useConsole } from '../operator.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, TextArea } from '../parts/fields.tsx';
import { When } from '../parts/figures.tsx';
import { Listing, onePage } from '../parts/listing.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { keyOf, urlOf, useDeed, useRead } from '../parts/server.ts';
import { Problem, Section } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';
import { saveFile } from '../shell/saving.ts';
import { Entry } from './entry.tsx';
import * as states from './incidentstates.ts';
import { languageChoices, PersonLink, PersonName } from './names.tsx';
import { Block } from './people.tsx';
import { openIncident, usePlaces } from './places.tsx';
import statements from './statements.json' with { type: 'json' };

export const Reports = ({ of: id }: { readonly of: string }) => (
  <Section title="Reports">
    <Listing
      pages={onePage(useRead<ReportPage>(`/api/incidents/${id}/reports`))}
      label="Reports"
      itemsOf={({ reports }) => reports}
      keyOf={(report) => report.id}
      empty={null}
    >
      {({ reason, createdAt, userId, contact, note }) => (
        <Entry
          title={states.reasonOf(reason)}
          at={createdAt}
          facts={[
            userId === null ? 'without an account' : <PersonLink key="who" id={userId} />,
            contact !== null && `Answer to ${contact}`,
          ]}
        >
          {note !== null && <p className="desk-quote">{note}</p>}
        </Entry>
      )}
    </Listing>
  </Section>
);

export function Decision({ incident }: { readonly incident: Incident }) {
  const { id, ownerId, decision, note, resolvedAt } = incident;
  const [draft, setDraft] = useState<Draft>();
  const left = useOthers(incident).filter(states.isUndecided).length;
  const owner = useOwner(ownerId);
  const isAppealed = states.isAppealOpen(incident);
  const isDue = resolvedAt === null || isAppealed;
  const text = decision?.statement ?? note;
  return (
    <Section title="Decision" className="card stack">
      <p role="status">
        {resolvedAt === null ? 'Nothing is decided yet.' : `Decided: ${states.statusOf(incident)}, `}
        {resolvedAt !== null && <When at={resolvedAt} />}
      </p>
      {text !== null && <p className="desk-quote">{text}</p>}
      {decision !== null && <UnsentMails of={id} />}
      {left > 0 && decision !== null && decision.decision !== 'dismiss' && (
        <p className="problem">
          The same content is stored or reported elsewhere, without a decision. “Decide again” includes{' '}
          <a href="#places">{left === 1 ? 'one more' : `${left} more`}</a>.
        </p>
      )}
      {isAppealed && <p className="strong">The owner appealed. Your next decision answers the appeal.</p>}
      <Changes>
        <div className="desk-buttons">
          {(ownerId !== states.nobody || !states.isDecidable(incident)) && (
            <button type="button" className={isDue ? 'primary' : undefined} onClick={() => setDraft({})}>
              {isAppealed ? 'Answer the appeal' : resolvedAt === null ? 'Decide' : 'Decide again'}
            </button>
          )}
          <Export of={id} />
        </div>
        {owner && <Block person={owner} />}
      </Changes>
      {!isDue && <NextOpen />}
      {draft && <DecisionDialog incident={incident} former={draft} onClose={setDraft} />}
    </Section>
  );
}

function Export({ of: id }: { readonly of: string }) {
  const exporting = useDeed(async () => {
    const response = await send(`/api/incidents/${id}/export`, { method: 'POST' });
    saveFile(`incident-${id}.json`, await response.blob());
  });
  return (
    <>
      <button type="button" disabled={exporting.isPending} onClick={() => exporting.mutate()}>
        Export for authorities
      </button>
      <Problem of={exporting.error} />
    </>
  );
}

function NextOpen() {
  const query = { status: 'open', order: 'priority', limit: 1 };
  const [next] = useRead<IncidentPage>('/api/incidents', query).data?.incidents ?? [];
  return next && <Link href={`/operator/incidents/${next.id}`}>Next open incident: {states.titleOf(next)}</Link>;
}

const mailQueue = 'media/decision-mail';

/** The jobs of the emails have the id of the incident in their payload, and are retried until the emails are sent. */
function UnsentMails({ of: id }: { readonly of: string }) {
  const enabled = useConsole().data?.hasDatabase === true;
  const useJobs = (state: 'dead' | 'failing') =>
    useRead<JobList>('/api/jobs', { queue: mailQueue, state, q: id }, { enabled, refetchInterval: 5000 }).data?.jobs ??
    [];
  const [dead, failing] = [useJobs('dead').length, useJobs('failing').length];
  if (dead + failing === 0) return null;
  const emailsOf = (count: number) => (count === 1 ? 'One email' : `${count} emails`);
  return (
    <p className={`${dead > 0 ? 'problem' : 'quiet'} desk-wrapped`} role="status">
      {dead > 0
        ? `${emailsOf(dead)} about this incident could not be sent.`
        : `${emailsOf(failing)} about this incident could not be sent yet. The next attempt follows automatically.`}{' '}
      <Link href={`/operator/jobs?queue=${mailQueue}`}>Show the jobs</Link>
    </p>
  );
}

/** What the operator chose and wrote. `ticked`: by the names of the others. */
type Draft = { readonly decision?: string; readonly typed?: string; readonly ticked?: Record<string, boolean> };
/** `onClose` opens it again with its argument. */
type DialogProps = { readonly incident: Incident; readonly former: Draft; readonly onClose: (next?: Draft) => void };

function DecisionDialog({ incident, former, onClose }: DialogProps) {
  const { id } = incident;
  const queries = useQueryClient();
  const isThere = states.isDecidable(incident);
  const [draft, setDraft] = useState(former);
  const { decision, typed = incident.note, ticked = {} } = draft;
  const setTyped = (words: string) => setDraft({ ...draft, typed: words });
  const leave = () => {
    onClose();
    if (Object.keys(draft).length > 0) notify('The decision was not saved.', { undo: () => onClose(draft) });
  };
  const [language, languageName] = languageOf(useOwner(incident.ownerId));
  const [worst = ''] = states.bySeverity(incident.reasons);
  const fitting = templates.filter(({ reasons }) => reasons?.includes(worst));
  const named = [...new Set([...fitting, ...templates])].map(({ name }) => [name, name] as const);
  const suggested = decision === 'dismiss' ? templates.find(({ reasons }) => reasons === undefined) : fitting[0];
  const isSuggested = isThere && !incident.isGone && decision !== undefined;
  const written = typed ?? (isSuggested ? suggested?.texts[language] : undefined) ?? '';
  const text = written.trim();
  const template = templates.find(({ texts }) => texts[language] === text);
  const choices = statements.choices[!isThere ? 'blocked' : incident.isGone ? 'removed' : 'there'];
  const others = useOthers(incident);
  /** A copy of the same owner has the new decision, so its incident records that. */
  const isReached = (one: states.Other) =>
    'id' in one && one.isCopy === true && decision !== undefined && one.decision?.decision !== decision;
  // A removal is about all of the same person without a decision, unless the operator leaves something out.
  const isIncluded = (one: states.Other) =>
    isReached(one) ||
    (ticked[nameOf(one)] ?? (decision === 'remove' && states.isUndecided(one) && one.ownerId === incident.ownerId));
  /** The other owners whose content the decision includes. */
  const strangers = [...new Set(others.filter(isIncluded).map(({ ownerId }) => ownerId))].filter(
    (ownerId) => ownerId !== incident.ownerId,
  );
  const decide = async () => {
    const all = [incident];
    // Before the first decision: a removal deletes copies, of which no incident can be opened.
    for (const one of others.filter(isIncluded)) all.push('id' in one ? one : await openIncident(one.assetId));
    for (const [index, one] of all.entries()) {
      const mailOwner = all.findIndex(({ ownerId }) => ownerId === one.ownerId) === index;
      const { people } = await queries.fetchQuery(ownerQuery(one.ownerId));
      const statement = template?.texts[languageOf(people[0])[0]] ?? text;
      const resolution = { resolution: decision, ...(text !== '' && { note: text }) };
      const json = isThere ? { decision, statement, mailOwner } : resolution;
      await send(`/api/incidents/${one.id}/${isThere ? 'decision' : 'resolution'}`, { method: 'POST', json });
    }
  };
  const deciding = useDeed(decide, ['incidents'], ['files'], ['actions']);
  return (
    <Dialog title="Decide about the content" onClose={leave}>
      <SaveForm
        of={deciding}
        submit="Save the decision"
        tone={decision === 'remove' ? 'danger' : 'primary'}
        isReady={decision !== undefined && (!isThere || text !== '')}
        onClose={() => onClose()}
      >
        <fieldset className="desk-decisions">
          <legend className="unseen">Decision</legend>
          {choices.map(([value = '', name, effect]) => (
            <label key={value} className={name === 'Remove' ? 'check desk-remove' : 'check'}>
              <input
                type="radio"
                name="decision"
                required
                checked={decision === value}
                onChange={() => setDraft({ ...draft, decision: value })}
              />
              <span>
                <span className="strong">{name}</span> <span className="quiet">{effect}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {others.length > 0 && (
          <fieldset className="desk-decisions">
            <legend>Also decide about the same content</legend>
            {others.map((one) => (
              <label key={nameOf(one)} className="check">
                <input
                  type="checkbox"
                  checked={isIncluded(one)}
                  disabled={isReached(one)}
                  onChange={() => setDraft({ ...draft, ticked: { ...ticked, [nameOf(one)]: !isIncluded(one) } })}
                />
                <span>
                  <span className="strong">{'id' in one ? states.titleOf(one) : 'Not reported'}</span>{' '}
                  <span className="quiet">
                    {states.placeOf(one).words}
                    {'id' in one && `, ${states.knownOf(one)}`}
                    {isReached(one) && '. The decision also applies to this copy'}{' '}
                    {one.ownerId !== incident.ownerId && (
                      <>
                        (another person: <PersonName id={one.ownerId} />)
                      </>
                    )}
                  </span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        {isThere && (
          <Choice
            label={`Template in ${languageName}`}
            choices={[['', 'None: write your own'], ...named]}
            value={template?.name ?? ''}
            onChange={(name) => setTyped(templates.find((one) => one.name === name)?.texts[language] ?? '')}
          />
        )}
        <TextArea
          label={isThere ? 'Statement of reasons' : 'Note'}
          rows={5}
          maxLength={isThere ? 5000 : 2000}
          required={isThere}
          value={written}
          onChange={setTyped}
        />
        {isThere && (
          <p className="quiet">
            The owner and the reporters get the statement by email
            {template === undefined ? ', as you write it. It is not translated.' : '.'}
          </p>
        )}
        {template && language !== 'en' && (
          <p className="quiet" lang="en">
            In English: {template.texts.en}
          </p>
        )}
        {template && [incident.ownerId, ...strangers].map((id) => <MailLanguage key={id} of={id} />)}
        {decision === 'remove' && worst === 'minor' && !incident.isGone && (
          <div className="stack">
            <p className="problem">
              Export the incident before you remove the file. The export has the digests of the file, not the file. If
              you must preserve it, restrict it until the authorities have it.
            </p>
            <Export of={id} />
          </div>
        )}
      </SaveForm>
    </Dialog>
  );
}

const { templates } = statements;

const nameOf = (one: states.Other) => ('id' in one ? one.id : String(one.assetId));

function useOthers(incident: Incident): readonly states.Other[] {
  const { data } = usePlaces(states.isDecidable(incident) ? incident.assetId : null);
  return data === undefined ? [] : states.othersIn(data, incident);
}

type Owner = PeoplePage['people'][number];

const ownerQuery = (id: string) => ({
  queryKey: keyOf('/api/people', { q: id }),
  queryFn: () => callJson<PeoplePage>(urlOf('/api/people', { q: id })),
  staleTime: 60_000,
});
const useOwner = (id: string): Owner | undefined => useQuery(ownerQuery(id)).data?.people[0];

/** English, if the language of the owner is not known. */
const languageOf = (owner: Owner | undefined) =>
  languageChoices.find(([tag]) => tag === owner?.language) ?? languageChoices[0];

function MailLanguage({ of: id }: { readonly of: string }) {
  const owner = useOwner(id);
  return (
    <p className="quiet">
      Emails about the content of <PersonName id={id} /> are written in {languageOf(owner)[1]},{' '}
      {owner?.language == null ? 'because the language of this person is not known' : 'the language of this person'}.
    </p>
  );
}
