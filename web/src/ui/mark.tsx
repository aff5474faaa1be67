/** The mark: a reel that pays out its tape, with the play sign inside. In right-to-left pages the tape runs the other way. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
    <path class="mark-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="mark-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);

/** The reel at the other end of the tape. */
export const TakeUpReel = () => (
  <div class="reel" aria-hidden="true">
    <svg viewBox="0 0 384 384" aria-hidden="true">
      <circle class="reel-tape" cx="192" cy="192" r="189.75" />
      <path class="reel-spokes" d="M192 192 192 52M192 192l121.2 70M192 192 70.8 262" />
      <circle class="reel-hub" cx="192" cy="192" r="46" />
      <circle class="reel-axis" cx="192" cy="192" r="14" />
    </svg>
  </div>
);
