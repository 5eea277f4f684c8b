/** A thumb that points up or down. */

type Props = { isDown?: boolean };

export function ThumbIcon({ isDown = false }: Props) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="14"
      height="14"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeLinejoin="round"
      transform={isDown ? "rotate(180)" : undefined}
    >
      <path d="M2.5 7.5h2v6h-2zM4.5 8l3-5.5c1.2 0 1.8.8 1.6 1.9L8.7 6.5h3.6c.8 0 1.4.7 1.2 1.5l-1 4.3c-.2.7-.8 1.2-1.5 1.2H4.5" />
    </svg>
  );
}
