import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../controls/index.ts';

export interface DisclosureProps {
  readonly title: string;
  /** Rendered, with what it loads, once it is open. */
  readonly children: () => ComponentChildren;
}

/** Content on request. */
export const Disclosure = ({ title, children }: DisclosureProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="button plain small">
        <Icon name={isOpen ? 'less' : 'all'} />
        {title}
      </summary>
      {isOpen && children()}
    </details>
  );
};
