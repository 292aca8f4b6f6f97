/** Fields that several orders have: a choice among few, and the price. */
import './create.css';
import { creditsOf, useCredits } from '../studio/account.ts';
import { quotientOf } from './order.ts';

interface SegmentsProps<Option extends string | number | undefined> {
  readonly name: string;
  readonly options: readonly Option[];
  readonly chosen: Option;
  readonly onChoose: (option: Option) => void;
  readonly textOf?: (option: Option) => string;
  readonly ratioOf?: (option: Option) => string | undefined;
}

/** `textOf` also identifies an option. `ratioOf`: the shape beside its text. */
export function Segments<Option extends string | number | undefined>({
  name,
  options,
  chosen,
  onChoose,
  textOf = String,
  ratioOf,
}: SegmentsProps<Option>) {
  return (
    <div className="field">
      <span aria-hidden="true">{name}</span>
      <fieldset className={ratioOf ? 'ratios' : 'segments'} aria-label={name}>
        {options.map((option) => (
          <label key={textOf(option)}>
            <input
              type="radio"
              name={name}
              className="unseen"
              checked={chosen === option}
              onChange={() => onChoose(option)}
            />
            {ratioOf && <RatioShape ratio={ratioOf(option)} />}
            {textOf(option)}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

/** A square if the ratio is not known. */
export function RatioShape({ ratio = '1:1' }: { readonly ratio?: string | undefined }) {
  const width = 14 * Math.min(1, quotientOf(ratio));
  const height = 14 / Math.max(1, quotientOf(ratio));
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      aria-hidden="true"
    >
      <rect x={8 - width / 2} y={8 - height / 2} width={width} height={height} rx="1" />
    </svg>
  );
}

export function Price({ credits }: { readonly credits: number }) {
  const account = useCredits();
  return (
    <span className={`${account && account.credits < credits ? 'problem' : 'quiet'} small`}>
      {creditsOf(credits)}
      {account && `. You have ${account.credits}.`}
    </span>
  );
}
