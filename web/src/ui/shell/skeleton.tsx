/** Placeholder of a result while resolving. */
export const Skeleton = () => (
  <div class="item" aria-hidden="true">
    <div>
      <div class="skeleton media-stage" />
      <div class="item-head">
        <span class="skeleton line title" />
        <span class="skeleton line short" />
      </div>
    </div>
    <div class="panel download-panel">
      {Array.from({ length: 9 }, (_, row) => (
        <span key={row} class="skeleton row" />
      ))}
    </div>
  </div>
);
