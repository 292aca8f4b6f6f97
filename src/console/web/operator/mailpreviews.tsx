import { useDeferredValue, useState } from 'react';
import type { NotificationTypes } from '../../../client/notify/api.ts';
import { useRead } from '../parts/reading.ts';
import { Failure, Loading, Pending } from '../parts/states.tsx';

type MailType = NotificationTypes['types'][number];

/** Values that show what a built-in type can do. */
const examples: Readonly<Record<string, string>> = {
  'account_deletion.scheduled': '{ "deletion_at": "2027-03-04" }',
};

export function Previews() {
  const { data, error, refetch } = useRead<NotificationTypes>(['mail types'], '/api/notify/types', {
    staleTime: Infinity,
  });
  const [first] = data?.types ?? [];
  if (data === undefined || first === undefined)
    return <Pending error={error} retry={refetch} what="Reading the types" />;
  return <Chosen types={data.types} first={first} />;
}

function Chosen({ types, first }: { readonly types: readonly MailType[]; readonly first: MailType }) {
  const [type, setType] = useState(first);
  const [locale, setLocale] = useState('en');
  const [values, setValues] = useState(examples[first.type] ?? '{}');
  return (
    <div className="previews">
      <form className="stack" aria-label="Preview" onSubmit={(event) => event.preventDefault()}>
        <label className="field">
          Type
          <select
            value={type.type}
            onChange={({ target }) => {
              const next = types.find((one) => one.type === target.value) ?? first;
              setType(next);
              setValues(examples[next.type] ?? '{}');
            }}
          >
            {types.map(({ type: name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label className="field">
          Language
          <select value={locale} onChange={({ target }) => setLocale(target.value)}>
            {type.locales.map((one) => (
              <option key={one} value={one}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          Values, as JSON
          <textarea
            rows={8}
            spellCheck={false}
            className="code"
            value={values}
            onChange={({ target }) => setValues(target.value)}
          />
        </label>
        <p className="quiet">
          {type.audience === 'account'
            ? 'An account email. It is sent regardless of the settings of the user.'
            : 'A product email. Users can turn it off and unsubscribe.'}
        </p>
      </form>
      <Shown
        type={type.type}
        locale={type.locales.find((one) => one === locale) ?? 'en'}
        values={useDeferredValue(values)}
      />
    </div>
  );
}

function Shown({ type, locale, values }: { readonly type: string; readonly locale: string; readonly values: string }) {
  const [isText, setText] = useState(false);
  const path = `/api/notify/types/${encodeURIComponent(type)}`;
  const query = new URLSearchParams({ locale, data: values });
  const { data, error } = useRead<{ subject: string; text: string }>(
    ['mail preview', type, locale, values],
    `${path}/preview?${query}`,
    { placeholderData: (previous) => previous },
  );
  if (error) return <Failure error={error} />;
  if (data === undefined) return <Loading what="Rendering the email" />;
  return (
    <article className="card mail" aria-label="The email">
      <div className="row">
        <h2 lang={locale.replace('_', '-')}>{data.subject}</h2>
        <button type="button" onClick={() => setText(!isText)}>
          {isText ? 'Show as a page' : 'Show as text'}
        </button>
      </div>
      {isText ? (
        <pre lang={locale.replace('_', '-')}>{data.text}</pre>
      ) : (
        <iframe title={`Email: ${data.subject}`} sandbox="" src={`${path}/html?${query}`} />
      )}
    </article>
  );
}

function nameOf(locale: string): string {
  const tag = locale.replace('_', '-');
  return `${new Intl.DisplayNames(undefined, { type: 'language' }).of(tag) ?? locale} (${locale})`;
}
