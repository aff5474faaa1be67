/** A storage of one test; `isBroken` makes it refuse everything, as a private window's may. */
export function createMemoryStore(items: Record<string, string> = {}, isBroken = false) {
  const kept = new Map(Object.entries(items));
  const refuse = () => {
    if (isBroken) throw new DOMException('Forbidden', 'SecurityError');
  };
  return {
    kept,
    getItem(name: string) {
      refuse();
      return kept.get(name) ?? null;
    },
    setItem(name: string, value: string) {
      refuse();
      kept.set(name, value);
    },
    removeItem(name: string) {
      refuse();
      kept.delete(name);
    },
  };
}
