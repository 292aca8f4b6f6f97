/** Fields with their labels. */
import { Search } from 'lucide-react';
import { type ComponentProps, useEffect, useRef, useState } from 'react';
import { useIsNarrow } from '../shell/browser.ts';
import { icon } from './iconbutton.tsx';

interface Field {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}
type Rest<Tag extends 'input' | 'select' | 'textarea'> = Omit<ComponentProps<Tag>, keyof Field>;

export const TextField = ({ label, onChange, ...rest }: Field & Rest<'input'>) => (
  <label className="field">
    {label}
    <input {...rest} onChange={({ target }) => onChange(target.value)} />
  </label>
);

export const TextArea = ({ label, onChange, ...rest }: Field & Rest<'textarea'>) => (
  <label className="field">
    {label}
    <textarea {...rest} onChange={({ target }) => onChange(target.value)} />
  </label>
);

/** Each choice is a value and its name. */
export const Choice = ({
  label,
  choices,
  onChange,
  className = 'field',
  ...rest
}: Field & Rest<'select'> & { readonly choices: readonly (readonly [value: string, name: string])[] }) => (
  <label className={className}>
    {label}
    <select {...rest} onChange={({ target }) => onChange(target.value)}>
      {choices.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  </label>
);

interface CheckProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
  readonly className?: string;
}

export const Check = ({ label, value, onChange, className = 'check' }: CheckProps) => (
  <label className={className}>
    <input type="checkbox" checked={value} onChange={({ target }) => onChange(target.checked)} />
    {label}
  </label>
);

const typingMs = 250;

/** The text of a search field, which is sent when the user stops typing. */
export function useTyped(value: string, onChange: (value: string) => void) {
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
  return [text, setText] as const;
}

/** Searches when the user stops typing. */
export function Find({ label, value, onChange }: Field) {
  const isNarrow = useIsNarrow();
  const [text, setText] = useTyped(value, onChange);
  return (
    <label className="find">
      <Search {...icon} />
      <input
        type="search"
        aria-label={label}
        title={label}
        placeholder={isNarrow ? 'Search' : label}
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
}
