/**
 * Counts the work of built-in functions: characters and bytes that they read or write. Coverage counts the branches of
 * JavaScript, but not the loops inside `indexOf`, `slice` or a regular expression.
 */
let work = 0;

/** Work since the last call of `resetWork`. */
export const workDone = (): number => work;
export const resetWork = (): void => {
  work = 0;
};

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Charge = (self: { readonly length: number }, result: unknown, args: readonly unknown[]) => number;

const sizeOf = (value: unknown): number =>
  typeof value === 'object' && value !== null && 'length' in value && typeof value.length === 'number'
    ? value.length
    : typeof value === 'string'
      ? value.length
      : 0;

/** A search reads up to the result, or to the end. */
const searched: Charge = (self, result, [, from]) => {
  const start = typeof from === 'number' ? from : 0;
  return typeof result === 'number' && result >= 0 ? result - start : self.length - start;
};
const whole: Charge = (self, result) => self.length + sizeOf(result);
const written: Charge = (_self, result) => sizeOf(result);

function meter(owner: object, charges: Readonly<Record<string, Charge>>): void {
  for (const [name, charge] of Object.entries(charges)) {
    const original = Reflect.get(owner, name) as Method;
    const metered: Method = function (...args) {
      const result = original.apply(this, args);
      work += Math.max(1, charge(this as { length: number }, result, args));
      return result;
    };
    Reflect.defineProperty(owner, name, { value: metered, configurable: true, writable: true });
  }
}

/** Replaces the built-in functions of this process by metered ones. */
export function installWorkMeter(): void {
  meterRegularExpressions();
  meter(String.prototype, {
    indexOf: searched,
    includes: whole,
    lastIndexOf: whole,
    split: whole,
    slice: written,
    trim: written,
    toLowerCase: whole,
    toUpperCase: whole,
    normalize: whole,
    repeat: written,
    padStart: written,
    toWellFormed: whole,
  });
  meter(Buffer.prototype, {
    indexOf: searched,
    toString: written,
    fill: whole,
    equals: whole,
    copy: written,
  });
  meter(Buffer, { concat: written, alloc: written, from: written, allocUnsafe: written });
  meter(Array.prototype, { concat: written, slice: written, indexOf: whole, includes: whole, join: whole });
}

/**
 * A regular expression reads from where it starts to the end of its match, or to the end of the text. Backtracking is not
 * counted.
 */
function meterRegularExpressions(): void {
  const original = RegExp.prototype.exec;
  const exec = function (this: RegExp, text: string): RegExpExecArray | null {
    const start = this.global || this.sticky ? this.lastIndex : 0;
    const result = original.call(this, text);
    const end = result ? result.index + result[0].length : this.sticky ? start + 1 : String(text).length;
    work += Math.max(1, end - start);
    return result;
  };
  Reflect.defineProperty(RegExp.prototype, 'exec', { value: exec, configurable: true, writable: true });
}
