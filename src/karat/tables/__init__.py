"""Tables of outputs, ratings or scores in any tabular file or frame.

    file or frame --> files.read_table    a Table: records by column
                  --> schemas.apply       exports of other tools: a record per output or rating
                  --> roles.infer_roles   which column is the candidate, the judge, ...
                  --> rows.make_rows      rows by role
                  --> set_rows.build_set  an `EvalSet`, which every command takes

`read_outputs` does all of it.
"""
