/** An in-memory storage; `isBroken` makes every call throw, as in private windows. */
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
