/** What everyone sees in Explore: where it comes from, whether it is shown, and how to change it. */
import './content.css';
import { useQuery } from '@tanstack/react-query';
import { Clapperboard, ImageIcon } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Announcement, HomeCards, PublicGallery, Trending } from '#client/content/api.ts';
import type { ContentSource, DocumentName } from '../../content.ts';
import { callJson, send } from '../calls.ts';
import { languageChoices, SettingLink } from '../operator/names.tsx';
import { Places } from '../operator/places.tsx';
import { Changes, useConsole, useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Check, Choice, TextArea, TextField } from '../parts/fields.tsx';
import { planName, When } from '../parts/figures.tsx';
import { useFilters } from '../parts/listing.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Empty, Loaded, Pending, Problem, Section, Status } from '../parts/states.tsx';
import { notify, take } from '../shell/notices.ts';
import contentKinds from './contentkinds.json' with { type: 'json' };

type Kind = (typeof contentKinds)['home-cards-v2' | 'trending'];
/** `list`: where the document has its entries. Empty: it is one. */
const kinds = contentKinds as unknown as Readonly<Record<DocumentName, Kind>>;
type Place = { readonly source: ContentSource; readonly language: string };
type Entry = Readonly<Record<string, unknown>>;
type Body = Partial<HomeCards & Trending & Announcement>;

const tagOf = (language: string) => language.replace('_', '-');

/** As the content service reads a text: in the language, in English, or without a language. */
function textOf(entry: Entry, name: string, language: string): string {
  const all = [`${name}_${language}`, `${name}_en`, name].map((key) => entry[key]);
  return String(all.find((value) => typeof value === 'string' && value !== '') ?? '');
}

export function Content() {
  const { of, change } = useFilters();
  const language = of('language') || 'en';
  const query = useRead<ContentSource>('/api/content');
  return (
    <>
      <header className="page">
        <div>
          <h1>Content</h1>
          <p className="quiet">
            Users see this in <Link href="/explore">Explore</Link>. {query.data && <Origin of={query.data} />}
          </p>
        </div>
        <Choice
          label="Language"
          className="field inline"
          choices={languageChoices}
          value={language}
          onChange={(tag) => change({ language: tag === 'en' ? '' : tag })}
        />
      </header>
      <Changes />
      <Loaded of={query}>
        {(source) =>
          (Object.keys(kinds) as DocumentName[]).map((name) => (
            <Document key={name} name={name} source={source} language={language} />
          ))
        }
      </Loaded>
      <Published />
    </>
  );
}

function Origin({ of: { cms, documents } }: { readonly of: ContentSource }) {
  const isHere = Object.keys(documents).length > 0;
  return cms !== null ? (
    <>
      Editors change it in the CMS at <code>{cms}</code>, which <SettingLink name="CMS_URL" /> names.
    </>
  ) : (
    <>
      {isHere ? 'Operators change it here' : 'It is in files of the data folder'}, until <SettingLink name="CMS_URL" />{' '}
      names a CMS. <Link href="/operator/audit?action=content">Show who changed it</Link>
    </>
  );
}

/** The stored entries if operators edit them here, and otherwise those of the public endpoint. */
function Document({ name, source, language }: Place & { readonly name: DocumentName }) {
  const { cms, editUrl, documents } = source;
  const [kind, stored] = [kinds[name], documents[name]];
  const address = useConsole().data?.addresses.content;
  const isEditable = useMayChange() && stored?.content != null;
  const save = useSaving(name, stored?.version);
  const [edited, setEdited] = useState<Edited>();
  const { data, error, refetch } = useQuery({
    queryKey: ['content', name, language],
    queryFn: async () => {
      const headers = { 'accept-language': tagOf(language) };
      const response = await send(address + kind.path, { headers, cache: 'no-cache' });
      // An empty response in place of the CMS's is not stored.
      const hasFailed = response.headers.get('cache-control') === 'no-store';
      return { hasFailed, body: (await response.json()) as Body };
    },
    enabled: address !== undefined,
  });
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  const isOne = kind.list === '';
  const isAnnounced = data.body.visible === true;
  const isHidden = isOne && !isAnnounced;
  const entries = isHidden && stored === undefined ? [] : entriesOf(kind, stored?.content ?? (data.body as Entry));
  return (
    <Section
      title={kind.title}
      className="stack"
      more={
        <div className="row">
          {isOne && <Status tone={isAnnounced ? 'good' : 'quiet'}>{isAnnounced ? 'shown' : 'hidden'}</Status>}
          {isEditable && isOne && (
            <button
              type="button"
              disabled={save.isPending}
              onClick={() => save.mutate({ ...stored?.content, visible: isHidden })}
            >
              {isHidden ? 'Show' : 'Hide'}
            </button>
          )}
          {isEditable && (
            <button type="button" onClick={() => setEdited({ at: isOne ? 0 : entries.length })}>
              {kind.add || 'Edit'}
            </button>
          )}
          {editUrl !== null && (
            <a className="button" href={editUrl.replace('{document}', name)} target="_blank" rel="noreferrer">
              Edit in the CMS
            </a>
          )}
        </div>
      }
    >
      <p className="quiet">
        {kind.about} {stored && (stored.changedAt === null ? 'This is a sample.' : 'Changed ')}
        {stored?.changedAt && <When at={stored.changedAt} />}
      </p>
      <Problem of={save.error} />
      {data.hasFailed && (
        <p className="problem" role="alert">
          {cms === null ? `The file cms/${name}.json` : 'The CMS'} cannot be read, so users see nothing here.
        </p>
      )}
      {!data.hasFailed && entries.length === 0 && <Empty title={kind.empty} />}
      <ul className="tiles" lang={tagOf(language)}>
        {entries.map((entry, at) => (
          <li key={String(entry.id ?? textOf(entry, 'title', language))} className="card content">
            <Shown entry={entry} kind={kind} body={data.body} language={language} />
            {isEditable && !isOne && (
              <button type="button" onClick={() => setEdited({ at })}>
                Edit
              </button>
            )}
          </li>
        ))}
      </ul>
      {edited !== undefined && stored?.content && (
        <Editor kind={kind} content={stored.content} edited={edited} save={save} onClose={setEdited} />
      )}
    </Section>
  );
}

const entriesOf = ({ list }: Kind, content: Entry): readonly Entry[] =>
  list === '' ? [content] : ((content[list] ?? []) as readonly Entry[]);

/** The content service reads a document at most once a second. */
const rereadMs = 1100;
/** The notice about the newest changes that were not saved. */
let unsaved = 0;

const useSaving = (name: DocumentName, version: string | undefined) =>
  useDeed(
    async (content: Entry) => {
      await send(`/api/content/${name}`, { method: 'PUT', json: { version, content } });
      await new Promise((resolve) => setTimeout(resolve, rereadMs));
      take(unsaved);
      return 'The content was saved.';
    },
    ['content'],
  );

type ShownProps = { readonly entry: Entry; readonly kind: Kind; readonly body: Body; readonly language: string };

/** An entry as users see it, and why they do not. */
function Shown({ entry, kind, body, language }: ShownProps) {
  const text = (field: string) => textOf(entry, field, language);
  const { id, ratio, requiredPlan, mediaType } = entry;
  const isCard = kind.list === 'cards';
  const omitted =
    isCard && body.cards?.every((card) => card.id !== String(id))
      ? 'Not shown: the content service rejects a value.'
      : isCard && text('prompt') === ''
        ? 'Explore omits it: it has no prompt.'
        : isCard && text('image') === ''
          ? 'Explore omits it: it has no image.'
          : kind.list === 'items' && !isLink(text('url')) && 'Explore omits it: it has no link.';
  const facts = isCard ? [mediaType ?? 'image', ratio, `plan: ${planName(String(requiredPlan ?? 'free'))}`] : [];
  return (
    <>
      <Picture url={text(kind.picture) || text('cover')} isVideo={mediaType === 'video'} />
      {kind.list === '' ? (
        <p className="content-line">
          <span className="strong">{text('title') || 'Without a title'}</span> {text('description')}
        </p>
      ) : (
        <h3>{text('title') || 'Without a title'}</h3>
      )}
      {kind.list !== '' && text('description') !== '' && <p>{text('description')}</p>}
      {text('prompt') !== '' && text('prompt') !== text('description') && <p className="quiet">{text('prompt')}</p>}
      <Away url={text('url') || text('arcadeLink')} />
      {omitted && <p className="quiet">{omitted}</p>}
      <p className="tags" lang="en">
        {isCard && body.featuredCardIds?.includes(String(id)) && (
          <span className="tag good">featured: comes first</span>
        )}
        {facts.map(
          (fact) =>
            typeof fact === 'string' && (
              <span key={fact} className="tag">
                {fact}
              </span>
            ),
        )}
      </p>
    </>
  );
}

interface EditorProps {
  readonly kind: Kind;
  readonly content: Entry;
  readonly edited: Edited;
  readonly save: ReturnType<typeof useSaving>;
  /** Opens it again with its argument. */
  readonly onClose: (next?: Edited) => void;
}

interface Edited {
  /** The place of the entry. After the last: a new one. */
  readonly at: number;
  /** What was typed before the dialog was closed. */
  readonly draft?: Entry;
}

function Editor({ kind, content, edited: { at, draft: former }, save, onClose }: EditorProps) {
  const entries = entriesOf(kind, content);
  const featured = (content.featuredCardIds ?? []) as readonly string[];
  const [language, setLanguage] = useState('en');
  const [given] = useState<Entry>(() => {
    if (former !== undefined) return former;
    const entry = entries[at] ?? { id: crypto.randomUUID() };
    return kind.list === 'cards' ? { ...entry, isFeatured: featured.includes(String(entry.id)) } : entry;
  });
  const [draft, setDraft] = useState(given);
  const leave = () => {
    onClose();
    if (draft !== given || former !== undefined)
      unsaved = notify('The changes were not saved.', { undo: () => onClose({ at, draft }) });
  };
  const isEdited = (key: string) => draft[key] !== entries[at]?.[key];
  // A translation that was not edited with its English text has its former meaning.
  const isOutdated = (key: string) => isEdited(`${key.split('_')[0]}_en`) && !isEdited(key);
  const edited = Object.fromEntries(Object.entries(draft).filter(([key]) => !isOutdated(key)));
  const store = (changed: readonly Entry[]) => {
    const others = featured.filter((id) => id !== draft.id);
    const isFeatured = draft.isFeatured === true && changed.includes(edited);
    const ids = kind.list === 'cards' && { featuredCardIds: isFeatured ? [...others, draft.id] : others };
    save.mutate(kind.list === '' ? edited : { ...content, ...ids, [kind.list]: changed }, {
      onSuccess: () => onClose(),
    });
  };
  return (
    <Dialog title={entries[at] === undefined ? `New ${kind.one}` : `Edit the ${kind.one}`} onClose={leave} isWide>
      <form className="stack" action={() => store(entries.toSpliced(at, 1, edited))}>
        <Choice label="Language of the texts" choices={languageChoices} value={language} onChange={setLanguage} />
        {kind.fields.map(({ name: field, label, kind: control, isLocalized, isRequired, choices }) => {
          const key = isLocalized ? `${field}_${language}` : field;
          const set = (value: unknown) => setDraft({ ...draft, [key]: value });
          if (control === 'check')
            return <Check key={field} label={label} value={draft[key] === true} onChange={set} />;
          const common = { label, value: String(draft[key] ?? ''), onChange: set };
          if (control === 'choice') return <Choice key={field} {...common} choices={choices as [string, string][]} />;
          // Readers of this language see the English text until it has one.
          const placeholder = textOf(draft, field, language);
          const text = { ...common, placeholder, required: isRequired && placeholder.trim() === '' };
          if (control === 'text') return <TextArea key={field} {...text} rows={3} maxLength={4000} />;
          const link = control === 'link' && {
            pattern: links,
            title: 'A URL that begins with https://, or a path with /',
          };
          return <TextField key={field} {...text} {...link} maxLength={2000} />;
        })}
        {Object.keys(draft).some(isOutdated) && <p role="status">{englishChanged}</p>}
        <Problem of={save.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={save.isPending}>
            Save
          </button>
          {kind.list !== '' && entries[at] !== undefined && (
            <Confirm
              label="Delete"
              question={`Delete this ${kind.one}?`}
              onConfirm={() => store(entries.toSpliced(at, 1))}
            />
          )}
          {at > 0 && entries[at] !== undefined && (
            <button
              type="submit"
              disabled={save.isPending}
              formAction={() => store([edited, ...entries.toSpliced(at, 1)])}
            >
              Save as the first
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** To a page of the console, or to a host with a domain. */
const links = '/(?!/).*|https?://([^\\/\\s]+\\.[^\\/\\s]+|localhost:\\d+)(/.*)?';

const englishChanged =
  'Saving removes the former translations. The other languages then show the English text until you translate it.';

/** The newest of the public feed, with what people reported of it. */
function Published() {
  const { data: info } = useConsole();
  const gallery = useQuery({
    queryKey: ['content', 'gallery'],
    queryFn: () => callJson<PublicGallery>(`${info?.addresses.content}/op/gallery?limit=24`, { cache: 'no-cache' }),
    enabled: info !== undefined,
  });
  const mayOpen = useMayChange();
  return (
    <Section title="Published by users" className="stack published">
      <p className="quiet">
        The newest of the public feed. To take one down, open an incident, and decide it with a reason for the owner.
      </p>
      <Loaded of={gallery}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No user has published anything yet." />
          ) : (
            <ul className="tiles published">
              {items.map(({ assetId, kind, thumbUrl, prompt, author, publishedAt }) => (
                <li key={assetId} className="card content">
                  <Link href={`/explore/${assetId}`} aria-label={`Open: ${prompt ?? `a published ${kind}`}`}>
                    {thumbUrl && <img src={thumbUrl} alt="" loading="lazy" />}
                  </Link>
                  {prompt !== null && <p className="cut">{prompt}</p>}
                  <p className="quiet">
                    {author ?? 'Anonymous'}, <When at={publishedAt} />
                  </p>
                  {info?.hasPeople && <Places of={assetId} {...(!mayOpen && { but: '' })} />}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Pages load pictures only from the console, as those of the samples, and from the hosts that are set. */
function Picture({ url, isVideo }: { readonly url: string; readonly isVideo: boolean }) {
  const { pictureHosts = [] } = useConsole().data ?? {};
  const host = URL.parse(url, location.origin)?.host;
  if (url === '' || host === undefined) return null;
  if (host === location.host || pictureHosts.includes(host)) return <img src={url} alt="" loading="lazy" />;
  const Icon = isVideo ? Clapperboard : ImageIcon;
  return (
    <div className="nopicture quiet">
      <Icon size={32} strokeWidth={1.25} aria-hidden="true" />
      <p>
        To show it, add <code>{host}</code> to <SettingLink name="CMS_MEDIA_HOSTS" />.
      </p>
    </div>
  );
}

/** To a web page, or to a page of the console. */
const Away = ({ url }: { readonly url: string }) =>
  isLink(url) ? (
    <a className="address" href={url} target="_blank" rel="noreferrer" title={url}>
      {url.replaceAll('%20', ' ')}
    </a>
  ) : (
    url !== '' && <p className="quiet address">{url}</p>
  );

const isLink = (url: string) => /^(https?:\/\/|\/(?!\/))/i.test(url);
