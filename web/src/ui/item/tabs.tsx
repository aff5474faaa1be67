import { useRef } from 'preact/hooks';

export interface TabsProps<T extends string> {
  /** Accessible name of the tab list. */
  readonly label: string;
  readonly panelId: string;
  readonly tabs: readonly { readonly id: T; readonly name: string }[];
  readonly selected: T;
  readonly onSelect: (id: T) => void;
}

/** A tab list (WAI-ARIA Authoring Practices: tabs with automatic activation). */
export function Tabs<T extends string>({ label, panelId, tabs, selected, onSelect }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const index = tabs.findIndex(({ id }) => id === selected);
    const isRtl = getComputedStyle(event.currentTarget as Element).direction === 'rtl';
    const step = { ArrowRight: isRtl ? -1 : 1, ArrowLeft: isRtl ? 1 : -1 }[event.key];
    const target =
      event.key === 'Home'
        ? 0
        : event.key === 'End'
          ? tabs.length - 1
          : step && (index + step + tabs.length) % tabs.length;
    const next = target === undefined ? undefined : tabs[target];
    if (!next) return;
    event.preventDefault();
    onSelect(next.id);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[target ?? 0]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(({ id, name }) => (
        <button
          key={id}
          id={`${panelId}-${id}`}
          type="button"
          role="tab"
          class="tab"
          aria-selected={id === selected}
          aria-controls={panelId}
          tabIndex={id === selected ? 0 : -1}
          onClick={() => onSelect(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}
