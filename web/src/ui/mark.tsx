/** The mark: a reel that pays out its tape, with the play sign inside. In right-to-left pages the tape runs the other way. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
    <path class="mark-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="mark-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);
