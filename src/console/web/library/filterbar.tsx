import {
  CalendarDays,
  CheckCheck,
  CircleCheck,
  Globe,
  Grid2x2,
  Heart,
  type LucideIcon,
  SlidersHorizontal,
  Upload,
  X,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Segments } from '../create/fields.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Find } from '../parts/fields.tsx';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { useIsNarrow, useStored } from '../shell/browser.ts';
import { toSearch } from '../shell/page.ts';
import type { Filters } from './assets.ts';
import type { Choosing } from './choosing.ts';

/** Of the filters of the library, and of Explore. */
export const namesOfTypes: Readonly<Record<string, string>> = {
  '': 'All',
  image: 'Images',
  video: 'Videos',
  other: 'Other',
};

/** `q`: what was searched for. */
export const nothingFor = (q: string): string => (q.trim() === '' ? 'Nothing matches.' : `Nothing matches “${q}”.`);

interface FilterBarProps {
  readonly filters: Filters;
  readonly onChange: (filters: Filters) => void;
  /** `undefined`: the page takes no files. */
  readonly onUpload?: (() => void) | undefined;
  /** `undefined`: something is being selected. */
  readonly onSelect?: (() => void) | undefined;
  /** After the filters. */
  readonly children?: ReactNode;
}

export function FilterBar({ filters, onChange, onUpload, onSelect, children }: FilterBarProps) {
  const isNarrow = useIsNarrow();
  const [isOpen, setOpen] = useState(false);
  const { type, favorites, shared, from, to } = filters;
  const isFiltered = toSearch({ type, favorites, shared, from, to }) !== '';
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
      <Segments
        name="Type"
        options={Object.keys(namesOfTypes)}
        chosen={type}
        onChoose={(next) => onChange({ ...filters, type: next })}
        textOf={(one) => namesOfTypes[one] ?? ''}
      />
      {toggle(Heart, 'Favorites', favorites !== '', () => onChange({ ...filters, favorites: favorites ? '' : '1' }))}
      {toggle(Globe, 'Published', shared !== '', () => onChange({ ...filters, shared: shared ? '' : '1' }))}
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
    <search className="filterbar" onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}>
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
      {onSelect && <IconButton label="Select" Icon={CircleCheck} className="icon" onClick={onSelect} />}
      {onUpload && <Button Icon={Upload} text="Upload" className="onlyicon primary" onClick={onUpload} />}
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

interface SelectionBarProps {
  readonly label: string;
  readonly choosing: Choosing;
  /** How many there are to select. */
  readonly of: number;
  /** While nothing is selected. */
  readonly hint: string;
  /** The bar is there only for a selection, so it also closes while nothing is selected. */
  readonly canClose?: boolean;
  /** What is done with the selection. */
  readonly children: ReactNode;
}

export function SelectionBar({ label, choosing, of, hint, canClose = false, children }: SelectionBarProps) {
  const count = choosing.chosen.size;
  return (
    <div className="filterbar selection" role="toolbar" aria-label={label}>
      {(count > 0 || canClose) && <IconButton label="Clear the selection" Icon={X} onClick={choosing.clear} />}
      <span role="status" className={count > 0 || canClose ? 'strong' : 'quiet'}>
        {count > 0 ? `${count} selected` : hint}
      </span>
      {count < of && <Button Icon={CheckCheck} text="Select all" className="plain" onClick={choosing.chooseAll} />}
      <span className="gap" />
      {children}
    </div>
  );
}

const [smallest, largest] = [0.6, 2];

/** The choice is stored in this browser. */
export function useTileSize() {
  const [size, setSize] = useStored('atelier.tile-size');
  return [Math.min(largest, Math.max(smallest, Number(size) || 1)), setSize] as const;
}

export function TileSize({ size, onChange }: { readonly size: number; readonly onChange: (size: string) => void }) {
  return (
    <label className="tilesize" title="Size of the images">
      <Grid2x2 size={16} strokeWidth={1.75} aria-hidden="true" />
      <input
        type="range"
        aria-label="Size of the images"
        min={smallest}
        max={largest}
        step={0.2}
        value={size}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
