/** The letter i in a circle; drawn, because not every font has one. */
export function InfoMark() {
  return (
    <svg
      viewBox="0 0 16 16"
      width="13"
      height="13"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      aria-hidden="true"
    >
      <circle cx="8" cy="8" r="6.5" />
      <path d="M8 7.2v4.2M8 4.4v1.3" />
    </svg>
  );
}
