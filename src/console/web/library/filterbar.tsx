import {
  CalendarDays,
  CircleCheck,
  Globe,
  Heart,
  type LucideIcon,
  Search,
  SlidersHorizontal,
  Upload,
} from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { Button, IconButton, icon } from '../parts/iconbutton.tsx';
import { useIsNarrow } from '../shell/browser.ts';
import { type Filters, searchOf } from './assets.ts';

const types = [
  ['', 'All'],
  ['image', 'Images'],
  ['video', 'Videos'],
  ['other', 'Other'],
] as const;

const typingMs = 250;

interface FindProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Searches when the user stops typing. */
export function Find({ label, value, onChange }: FindProps) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  const sent = useRef(value);
  const send = useRef(onChange);
  send.current = onChange;
  if (value !== seen) {
    setSeen(value);
    // Another control has changed it. What was typed since the last search stays.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text.trim() === sent.current) return;
      sent.current = text.trim();
      send.current(sent.current);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label className="find">
      <Search {...icon} />
      <input
        type="search"
        aria-label={label}
        title={label}
        placeholder="Search"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly choices: readonly (readonly [Value, string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few choices, all in view. */
export function Segments<Value extends string>({ label, choices, value, onChange }: SegmentsProps<Value>) {
  return (
    <fieldset className="segments" aria-label={label}>
      {choices.map(([choice, name]) => (
        <label key={choice}>
          <input
            type="radio"
            name={label}
            className="unseen"
            checked={choice === value}
            onChange={() => onChange(choice)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
  /** `undefined`: the page takes no files. */
  readonly onUpload?: (() => void) | undefined;
  /** For touch, which shows no circles before. `undefined`: something is being selected. */
  readonly onSelect?: (() => void) | undefined;
  /** After the filters. */
  readonly children?: ReactNode;
}

export function FilterBar({ filters, onChange, onUpload, onSelect, children }: FilterBarProps) {
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const { type, isFavorite, isShared, from, to } = filters;
  const isFiltered = searchOf({ ...filters, q: '', album: '', addTo: '' }) !== '';
  const dateField = (label: string, name: 'from' | 'to', limits: { readonly min?: string; readonly max?: string }) => (
    <label>
      {label}
      <input
        type="date"
        {...limits}
        value={filters[name]}
        onChange={(event) => onChange({ ...filters, [name]: event.target.value })}
      />
    </label>
  );
  const toggle = (Icon: LucideIcon, text: string, isOn: boolean, onClick: () => void, isExpanded?: boolean) => (
    <Button {...{ Icon, text, onClick }} className="toggle" aria-pressed={isOn} aria-expanded={isExpanded} />
  );
  const choices = (
    <>
      <Segments label="Type" choices={types} value={type} onChange={(next) => onChange({ ...filters, type: next })} />
      {toggle(Heart, 'Favorites', isFavorite, () => onChange({ ...filters, isFavorite: !isFavorite }))}
      {toggle(Globe, 'Published', isShared, () => onChange({ ...filters, isShared: !isShared }))}
      {!isNarrow && toggle(CalendarDays, 'Dates', from !== '' || to !== '', () => setOpen(!isOpen), isOpen)}
      {children}
    </>
  );
  const dates = (
    <div className="dates">
      {dateField('From', 'from', { max: to })}
      {dateField('To', 'to', { min: from })}
    </div>
  );
  return (
    <search className="filterbar">
      <Find label="Search names and prompts" value={filters.q} onChange={(q) => onChange({ ...filters, q })} />
      {isNarrow ? (
        <IconButton
          label="Filters"
          Icon={SlidersHorizontal}
          className="icon toggle"
          aria-pressed={isFiltered}
          onClick={() => setOpen(true)}
        />
      ) : (
        choices
      )}
      {onSelect && <IconButton label="Select" Icon={CircleCheck} className="icon selecting" onClick={onSelect} />}
      {onUpload && <Button Icon={Upload} text="Upload" className="primary" onClick={onUpload} />}
      {isOpen && !isNarrow && dates}
      {isOpen && isNarrow && (
        <Dialog title="Filters" onClose={() => setOpen(false)}>
          <div className="filtersheet">
            {choices}
            {dates}
          </div>
        </Dialog>
      )}
    </search>
  );
}
