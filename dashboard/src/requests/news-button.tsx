import { useThrottledValue } from "@mantine/hooks";
import { count } from "~/format/number";
import css from "./log.module.css";

type Props = { waiting: number; isAway: boolean; onClick: () => void };

/** Says that there is something newer above, and goes there. Screen readers are told now and then, not each time. */
export function NewsButton({ waiting, isAway, onClick }: Props) {
  const told = useThrottledValue(waiting, 10_000);
  return (
    <>
      {(waiting > 0 || isAway) && (
        <button type="button" className={css.news} onClick={onClick} title="Home">
          <span aria-hidden="true">▲</span> {waiting > 0 ? `${count(waiting)} new` : "newest"}
        </button>
      )}
      <span className="unseen" role="status">
        {told > 0 ? `${count(told)} new requests above` : ""}
      </span>
    </>
  );
}
