/** The effective configuration, what runs on stand-ins, and the checks of `npm run doctor`. */
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Examination, SettingsView } from '../../settings/routes.ts';
import { callJson } from '../calls.ts';
import { useMayChange } from '../operator.tsx';
import { Seconds } from '../parts/elapsed.tsx';
import { Check } from '../parts/fields.tsx';
import { When } from '../parts/figures.tsx';
import { SearchFilter, useFilters } from '../parts/listing.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, Loaded, PageHead, Problem, Section, Status } from '../parts/states.tsx';
import { useReplacements } from './budgets.tsx';
import { SettingLink } from './names.tsx';

export function Settings() {
  const query = useRead<SettingsView>('/api/settings');
  return (
    <>
      <PageHead title="Settings">
        Settings come from the environment. Restart to apply changes. A link to a setting shows its row.
      </PageHead>
      <Loaded of={query} what="Reading settings">
        {(view) => (
          <>
            <div className="desk-halves">
              <StandIns view={view} />
              <Checks />
            </div>
            <Effective view={view} />
          </>
        )}
      </Loaded>
    </>
  );
}

function StandIns({ view: { standIns, warnings } }: { readonly view: SettingsView }) {
  return (
    <Section title="Stand-ins" className="card stack">
      {standIns.length === 0 ? (
        <p className="quiet">Every part uses its real service.</p>
      ) : (
        <ul className="lines">
          {standIns.map(({ part, state, setting }) => (
            <li key={part}>
              <p className="desk-name desk-capital">{part}</p>
              <p className="quiet">
                Now: {state}. For the real service, set <SettingLink name={setting} />.
              </p>
            </li>
          ))}
        </ul>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="problem">
          {warning}
        </p>
      ))}
    </Section>
  );
}

const states = { FAULT: ['bad', 'fault'], warn: ['busy', 'warning'], ok: ['good', 'ok'] } as const;
const order = Object.keys(states);

function Checks() {
  const mayChange = useMayChange();
  const checking = useMutation({
    mutationFn: () => callJson<Examination>('/api/settings/doctor', { method: 'POST' }),
  });
  const refetchInterval = checking.isPending && 1000;
  const soFar = useRead<Examination>('/api/settings/doctor', {}, { refetchInterval });
  // An interrupted request leaves what has been found.
  const shown = checking.data ?? soFar.data;
  const found = (shown?.findings ?? []).toSorted((one, two) => order.indexOf(one.state) - order.indexOf(two.state));
  const fine = found.filter(({ state }) => state === 'ok');
  const listOf = (label: string, isListed: (state: keyof typeof states) => boolean) => (
    <ul className="lines" aria-label={label}>
      {found
        .filter(({ state }) => isListed(state))
        .map(({ name, state, sentence }) => (
          <li key={name}>
            <div className="row">
              <span className="desk-name">{name}</span>
              <Status tone={states[state][0]}>{states[state][1]}</Status>
            </div>
            <p className="quiet desk-wrapped">{sentence}</p>
          </li>
        ))}
    </ul>
  );
  return (
    <Section
      title="Checks"
      className="card stack"
      more={
        mayChange && (
          <button type="button" disabled={checking.isPending} onClick={() => checking.mutate()}>
            {checking.isPending ? 'Checking …' : 'Check everything'}
          </button>
        )
      }
    >
      <Problem of={checking.error} />
      <div role="status">
        <p className="quiet">
          {checking.isPending ? (
            <>
              The checks call every engine and external service, for up to a minute. <Seconds />
            </>
          ) : shown?.checkedAt ? (
            <>
              Checked <When at={shown.checkedAt} />
            </>
          ) : (
            <>
              Calls every engine and external service, as <code>npm run doctor</code> does.
            </>
          )}
        </p>
        {listOf('Findings', (state) => state !== 'ok')}
        {fine.length > 0 && (
          <details>
            <summary>
              <Status tone="good">{fine.length === 1 ? '1 check is ok' : `${fine.length} checks are ok`}</Status>
            </summary>
            {listOf('Checks that are ok', (state) => state === 'ok')}
          </details>
        )}
      </div>
    </Section>
  );
}

const show = (section: HTMLElement | null) => section?.scrollIntoView();

function Effective({ view: { groups } }: { readonly view: SettingsView }) {
  const { of, change } = useFilters();
  const q = of('q');
  // A link to a setting shows its row, below the cards.
  const [isLinked] = useState(q !== '');
  const isChangedOnly = of('all') === '';
  const setChangedOnly = (isOnly: boolean) => change({ all: isOnly ? '' : 'true' });
  const replacementOf = useReplacements();
  const words = q.toLowerCase().split(' or ');
  const shown = groups
    .map((group) => ({
      ...group,
      settings: group.settings.filter(
        ({ variable, meaning, value, isDefault }) =>
          words.some((word) => `${variable} ${meaning}`.toLowerCase().includes(word)) &&
          !(isChangedOnly && isDefault && q === '' && replacementOf(variable, value) === undefined),
      ),
    }))
    .filter(({ settings }) => settings.length > 0);
  return (
    <Section title="Effective configuration" {...(isLinked && { ref: show })}>
      <search className="row desk-filters">
        <SearchFilter label="Find settings" placeholder="Name or meaning" />
        {/* A search finds all settings. */}
        {q === '' && <Check label="Only changed settings" value={isChangedOnly} onChange={setChangedOnly} />}
      </search>
      {shown.length === 0 && <Empty title={q === '' ? 'All settings have their default.' : 'No settings match.'} />}
      {shown.map(({ name, settings }) => (
        <section key={name} aria-label={name} className="desk-group">
          <h3>{titleOf(name)}</h3>
          <dl>
            {settings.map(({ variable, meaning, value, isDefault, defaultText, isRequired }) => (
              <div key={variable}>
                <dt>
                  <SettingLink name={variable} />
                  <p className="quiet">{meaning.replaceAll('`', '')}</p>
                  <p className="quiet desk-default">
                    {`Default: ${defaultText}`}
                    {isRequired && ' · required in production'}
                  </p>
                </dt>
                <dd>
                  {replacementOf(variable, value) !== undefined && (
                    <p>
                      <Link href="/operator/models">{replacementOf(variable, value)}</Link>
                      {value !== null && ', instead of'}
                    </p>
                  )}
                  {value === null ? (
                    replacementOf(variable, value) === undefined && <span className="quiet">not set</span>
                  ) : (
                    <code className="desk-value">{value}</code>
                  )}
                  {isDefault && value !== null && <span className="quiet desk-default">default</span>}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Section>
  );
}

/** `imageModel` is shown as `Image model`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/([A-Z])/g, ' $1').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
