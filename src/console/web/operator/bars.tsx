/** A bar for each day. Assistive technology reads the table below the graphs instead. */
import { type PointerEvent, useState } from 'react';

export interface Bar {
  readonly label: string;
  readonly value: number;
}

const height = 72;
const step = 10;

export function Bars({
  title,
  bars,
  show,
}: {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly show: (value: number) => string;
}) {
  const [pointed, setPointed] = useState<number>();
  const largest = Math.max(1, ...bars.map(({ value }) => value));
  const bar = pointed === undefined ? undefined : bars[pointed];
  const point = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setPointed(Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars.length))));
  };
  return (
    <figure className="graph">
      <figcaption>
        <span className="quiet">{title}</span>
        <span className="now">
          {bar && <span className="quiet">{bar.label} </span>}
          <span className="of accent">{show(bar?.value ?? bars.reduce((sum, { value }) => sum + value, 0))}</span>
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${bars.length * step} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        <line className="base" x1="0" x2={bars.length * step} y1={height - 1} y2={height - 1} />
        {bars.map(({ label, value }, index) => {
          const tall = value === 0 ? 0 : Math.max(2, (value / largest) * (height - 4));
          return (
            <rect
              key={label}
              className={index === pointed ? 'pointed' : undefined}
              x={index * step + 1}
              y={height - 1 - tall}
              width={step - 2}
              height={tall}
            />
          );
        })}
      </svg>
    </figure>
  );
}
