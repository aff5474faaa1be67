/** The logo: a reel with a play sign. Mirrored in right-to-left pages. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="logo-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="logo-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);
