/** One line of the table: Reelay and a rival, measured alternately in the same run. */
export interface Figure {
  readonly what: string;
  /** Medians, in `unit`. */
  readonly ours: number;
  /** Absent where nothing is compared. */
  readonly rival?: number;
  readonly rivalName?: string;
  readonly unit?: string;
  /** Goal of `ours` divided by `rival`, or of `ours` where there is no rival. */
  readonly atLeast?: number;
  readonly atMost?: number;
}

const isShort = process.argv.includes('--short');

/** How often something is measured, or how much of it: less when the bench runs with `--short`. */
export const unlessShort = (usual: number, short = 1): number => (isShort ? short : usual);

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
};

/** Medians of alternating runs (A B A B …), so that drift of the machine's speed affects both alike. */
export async function inTurn(
  runs: number,
  ours: () => Promise<number>,
  rival: () => Promise<number>,
): Promise<{ ours: number; rival: number }> {
  const figures: { ours: number[]; rival: number[] } = { ours: [], rival: [] };
  for (let run = 0; run < runs; run += 1) {
    figures.rival.push(await rival());
    figures.ours.push(await ours());
  }
  return { ours: median(figures.ours), rival: median(figures.rival) };
}

/** Seconds that `work` took. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

const COLUMNS = ['what', 'ours', 'rival', 'unit', 'ratio', 'to reach', ''] as const;

/** The figures as an aligned text table. */
export function table(figures: readonly Figure[]): string {
  const rows = [COLUMNS, ...figures.map(row)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n');
}

/** Whether the figure reaches its goal. */
export function reached({ ours, rival, atLeast = -Infinity, atMost = Infinity }: Figure): boolean {
  const figure = rival === undefined ? ours : ours / rival;
  return figure >= atLeast && figure <= atMost;
}

function row(figure: Figure): string[] {
  const { what, ours, rival, rivalName, unit = '', atLeast, atMost } = figure;
  return [
    what,
    short(ours),
    rival === undefined ? '' : `${short(rival)} (${rivalName})`,
    unit,
    rival === undefined ? '' : short(ours / rival),
    atLeast !== undefined ? `≥ ${short(atLeast)}` : atMost !== undefined ? `≤ ${short(atMost)}` : '',
    atLeast === undefined && atMost === undefined ? '' : reached(figure) ? 'reached' : 'MISSED',
  ];
}

const short = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
