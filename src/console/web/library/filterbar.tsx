import { CalendarDays, CircleCheck, Globe, Heart, Search, Upload } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Filters } from './assets.ts';

const types = [
  ['', 'All'],
  ['image', 'Images'],
  ['video', 'Videos'],
  ['other', 'Other'],
] as const;

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;
const typingMs = 250;

export function FilterBar({
  filters,
  onChange,
  onFiles,
  onSelect,
  children,
}: {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
  readonly onFiles: (files: readonly File[]) => void;
  /** For touch, which shows no circles before. */
  readonly onSelect: () => void;
  /** After the filters. */
  readonly children?: ReactNode;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const [q, setQ] = useState(filters.q);
  const [hasDates, setDates] = useState(false);
  const latest = useRef({ filters, onChange });
  latest.current = { filters, onChange };
  useEffect(() => {
    const timer = setTimeout(() => {
      if (q !== latest.current.filters.q) latest.current.onChange({ ...latest.current.filters, q });
    }, typingMs);
    return () => clearTimeout(timer);
  }, [q]);
  return (
    <search className="filterbar">
      <label className="find">
        <Search {...icon} />
        <input
          type="search"
          aria-label="Search names and prompts"
          placeholder="Names and prompts"
          maxLength={500}
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
      </label>
      <fieldset className="segments" aria-label="Type">
        {types.map(([type, name]) => (
          <label key={type}>
            <input
              type="radio"
              name="type"
              className="unseen"
              checked={filters.type === type}
              onChange={() => onChange({ ...filters, type })}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <button
        type="button"
        className="toggle"
        aria-pressed={filters.isFavorite}
        onClick={() => onChange({ ...filters, isFavorite: !filters.isFavorite })}
      >
        <Heart {...icon} />
        Favorites
      </button>
      <button
        type="button"
        className="toggle"
        aria-pressed={filters.isShared}
        onClick={() => onChange({ ...filters, isShared: !filters.isShared })}
      >
        <Globe {...icon} />
        Published
      </button>
      <button
        type="button"
        className="toggle"
        aria-pressed={filters.from !== '' || filters.to !== ''}
        aria-expanded={hasDates}
        onClick={() => setDates(!hasDates)}
      >
        <CalendarDays {...icon} />
        Dates
      </button>
      <button type="button" className="toggle selecting" onClick={onSelect}>
        <CircleCheck {...icon} />
        Select
      </button>
      {children}
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = '';
        }}
      />
      <button type="button" className="primary" onClick={() => picker.current?.click()}>
        <Upload {...icon} />
        Upload
      </button>
      {hasDates && (
        <div className="dates">
          <label>
            From
            <input
              type="date"
              max={filters.to}
              value={filters.from}
              onChange={(event) => onChange({ ...filters, from: event.target.value })}
            />
          </label>
          <label>
            To
            <input
              type="date"
              min={filters.from}
              value={filters.to}
              onChange={(event) => onChange({ ...filters, to: event.target.value })}
            />
          </label>
        </div>
      )}
    </search>
  );
}
