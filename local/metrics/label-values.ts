/** Further values of a label count as this one. */
const OTHER = 'other';

/** Bounds the values of a label, which come from outside: the first `max` are kept, further ones become `other`. */
export function createLabelValues(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (!known.has(value) && known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}
