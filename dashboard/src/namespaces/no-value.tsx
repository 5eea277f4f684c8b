import { Button } from "@mantine/core";
import { useGoToList } from "~/navigation/links";
import { ALL_PROPERTIES, type PropertyList } from "~/navigation/list-search";
import css from "./page.module.css";

/** Why a property shows no value: none begins like that, or no request has the property. */
export function NoValue({ list, property }: { list: PropertyList; property: string }) {
  const go = useGoToList();
  const isWhole = list.prefix === "";
  return (
    <div className={css.message}>
      <p>
        {isWhole ? "No request has the property " : "No value of "}
        <strong>
          <bdi>{property}</bdi>
        </strong>
        {!isWhole && (
          <>
            {" begins with "}
            <strong>
              <bdi>{list.prefix}</bdi>
            </strong>
          </>
        )}
        .{!isWhole && " Upper and lower case differ."}
      </p>
      <Button
        variant="default"
        size="compact-sm"
        onClick={() => go(isWhole ? ALL_PROPERTIES : { ...list, prefix: "" })}
      >
        {isWhole ? "all properties" : "clear"}
      </Button>
    </div>
  );
}
