/** Numbers formatted for one locale. */
export type Format = ReturnType<typeof createFormat>;

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
const SPANS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

export function createFormat(locale: string) {
  const unit = (name: string, digits: number) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
      minimumFractionDigits: digits,
    });
  const padded = new Intl.NumberFormat(locale, { minimumIntegerDigits: 2, useGrouping: false });
  const plain = new Intl.NumberFormat(locale, { useGrouping: false });
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const list = new Intl.ListFormat(locale, { type: 'unit', style: 'short' });
  const and = new Intl.ListFormat(locale);

  return {
    /** `1.2 MB`, `97 MB`: powers of a thousand. */
    bytes(value: number): string {
      // A value that would round to 1000 uses the next unit.
      const thousands = value < 1000 ? 0 : Math.floor(Math.log10(value + value / 2000) / 3);
      const power = Math.min(thousands, BYTE_UNITS.length - 1);
      const amount = value / 1000 ** power;
      return unit(BYTE_UNITS[power] ?? 'byte', power === 0 || amount >= 9.95 ? 0 : 1).format(amount);
    },
    /** `2 min, 5 sec`: the two largest units. */
    duration(seconds: number): string {
      const parts = split(seconds);
      const first = parts.findIndex(([, amount]) => amount > 0);
      const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2).filter(([, amount]) => amount > 0);
      return list.format(shown.map(([name, amount]) => unit(name, 0).format(amount)));
    },
    /** `1:02:03`. */
    clock(seconds: number): string {
      const whole = Math.floor(seconds);
      const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
      const end = padded.format(rest);
      return hours > 0 ? `${plain.format(hours)}:${padded.format(minutes)}:${end}` : `${plain.format(minutes)}:${end}`;
    },
    /** `YouTube, Vimeo, and others`. */
    and: (parts: readonly string[]): string => and.format(parts),
    /** `42%` of a share between 0 and 1. */
    percent: (share: number): string => percent.format(share),
    /** `Nov 22, 2026` of an ISO 8601 date; other text unchanged. */
    date(isoDate: string): string {
      const at = Date.parse(isoDate);
      if (Number.isNaN(at)) return isoDate;
      // A date alone is midnight UTC.
      return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(at);
    },
    /** `5 minutes ago`. @param at epoch milliseconds, like `now` */
    ago(at: number, now: number): string {
      const seconds = Math.max(Math.round((now - at) / 1000), 0);
      const [name, length] = spanOf(seconds);
      return relative.format(-Math.floor(seconds / length), name);
    },
    /** `in 3 hours`. */
    until(seconds: number): string {
      const [name, length] = spanOf(seconds);
      return relative.format(Math.round(seconds / length), name);
    },
  };
}

const spanOf = (seconds: number) => SPANS.find(([, span]) => seconds >= span) ?? (['second', 1] as const);

function split(seconds: number): [name: string, amount: number][] {
  let left = Math.ceil(seconds);
  const parts = SPANS.map(([name, span]): [string, number] => {
    const amount = Math.floor(left / span);
    left -= amount * span;
    return [name, amount];
  });
  return [...parts, ['second', left]];
}
